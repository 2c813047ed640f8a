import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CatalogChanges } from '../src/domain/catalog-state.ts'
import { createBundleFolders } from '../src/running/bundles/folders.ts'
import { inNewFolder } from './new-folder.ts'
import { median, type Result, type Round, toResult } from './result.ts'
import { emptyCatalog, plainSpecs, registryAt, registryOf, serveSpecs, specList, sync } from './specs.ts'

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

/** A broker's first and later syncs of a folder of bundles, with the copies that it keeps. Each spec is YAML. */
export function benchDirectorySync(rounds: number): Promise<Result[]> {
  return inNewFolder(async folder => {
    const bundles = join(folder, 'bundles')
    for (const [name, text] of plainSpecs(count)) {
      mkdirSync(join(bundles, name), { recursive: true })
      writeFileSync(join(bundles, name, 'bundle.yml'), text)
      writeFileSync(join(bundles, name, 'entrypoint.sh'), '#!/bin/sh\nexit 0\n', { mode: 0o755 })
    }
    const registry = registryOf({ name: 'bench', path: bundles, white_list: ['.*'] })
    const copies = createBundleFolders(join(folder, 'run'))
    let state = emptyCatalog
    const readAll = async () => {
      const files = readdirSync(bundles).flatMap(name =>
        ['bundle.yml', 'entrypoint.sh'].map(file => join(bundles, name, file)),
      )
      for (const file of files) createHash('sha256').update(readFileSync(file)).digest('hex')
    }
    const next = async (now: number) => {
      state = (await sync(registry, state, now)).state
      await copies.keepFolders(state.revisions)
    }
    const first = { baseline: await cpuSeconds(readAll), ours: await cpuSeconds(() => next(1)) }
    if (state.services.length !== count) throw new Error(`${state.services.length} services, not ${count}`)
    const measured: Round[] = []
    for (let round = 0; round < rounds; round++)
      measured.push({ baseline: await cpuSeconds(readAll), ours: await cpuSeconds(() => next(round + 2)) })
    const later = `sync of ${count} unchanged folders, whose files are all read`
    const met = median(measured.map(({ ours }) => ours)) < 4
    return [
      toResult(`the first sync of ${count} folders, which checks and copies each of them`, 'CPU s', [first], {
        text: '< 10 CPU s',
        met: () => first.ours < 10,
      }),
      toResult(later, 'CPU s', measured, { text: '< 4 CPU s', met: () => met }),
    ]
  })
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
