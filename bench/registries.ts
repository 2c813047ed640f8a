import { createHash } from 'node:crypto'
import type { CatalogChanges } from '../src/domain/catalog-state.ts'
import { median, type Result, type Round, toResult } from './result.ts'
import { emptyCatalog, registryAt, serveSpecs, specList, sync } from './specs.ts'

const count = 10_000

/** A sync of specs that did not change, from the request on, against bare JSON.parse and SHA-256 of the same bytes. */
export async function benchSync(rounds: number): Promise<Result[]> {
  const body = specList(count)
  const { url, stop } = await serveSpecs(body)
  try {
    const registry = registryAt(url)
    let state = emptyCatalog
    // Before it is warm: that is how a broker meets them.
    const first = {
      baseline: await cpuSeconds(async () => hashEach(body)),
      ours: await cpuSeconds(async () => {
        state = (await sync(registry, state, 1)).state
      }),
    }
    if (state.services.length !== count) throw new Error(`${state.services.length} services, not ${count}`)
    const measured: Round[] = []
    let writes = 0
    for (let round = 0; round <= rounds; round++) {
      const baseline = await cpuSeconds(async () => hashEach(body))
      const ours = await cpuSeconds(async () => {
        const next = await sync(registry, state, round + 2)
        state = next.state
        writes += writesOf(next.changes)
      })
      // The first round warms both up.
      if (round > 0) measured.push({ ours, baseline })
    }
    const name = `sync of ${count} unchanged specs over HTTP: ${writes} writes of services and revisions`
    const met = writes === 0 && median(measured.map(({ ours }) => ours)) < 2
    return [
      toResult(name, 'CPU s', measured, { text: '< 2 CPU s, 0 writes', met: () => met }),
      toResult(`the first sync of ${count} specs, which checks each of them`, 'CPU s', [first], {
        text: '< 10 CPU s',
        met: () => first.ours < 10,
      }),
    ]
  } finally {
    await stop()
  }
}

/** What anybody would have to do to see that nothing has changed. */
function hashEach(body: Buffer): number {
  const specs: readonly unknown[] = JSON.parse(body.toString('utf8'))
  const digests = specs.map(spec => createHash('sha256').update(JSON.stringify(spec)).digest('hex'))
  return new Set(digests).size
}

function writesOf({ insertRevisions, putServices, deleteServices, deleteRevisions }: CatalogChanges): number {
  return insertRevisions.length + putServices.length + deleteServices.length + deleteRevisions.length
}

async function cpuSeconds(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}
