import { join } from 'node:path'
import { systemClock } from '../src/clock.ts'
import { openStore } from '../src/running/open-store.ts'
import { compareAnswers } from './compare-answers.ts'
import { inNewFolder } from './new-folder.ts'
import { osbHeaders } from './requests.ts'
import { noGoal, type Result, type Round, toResult } from './result.ts'
import { type Served, servePurser } from './served.ts'
import { emptyCatalog, registryAt, registryEntry, serveSpecs, specList, sync } from './specs.ts'
import { measureBareStart, measureStart } from './start.ts'

const count = 10_000
/** Few: an answer has megabytes. */
const connections = 8

/** A broker with many registered services, which its registry still has: the catalog, and a start with them in the ledger. */
export function benchCatalog(rounds: number): Promise<Result[]> {
  return inNewFolder(async folder => {
    const specs = await serveSpecs(specList(count))
    try {
      await fillStore(`sqlite:${join(folder, 'ledger.db')}`, specs.url)
      const start = () => servePurser(folder, { registries: [registryEntry(specs.url)] })
      return [...(await measureAnswers(start, rounds)), ...(await measureStarts(start, rounds))]
    } finally {
      await specs.stop()
    }
  })
}

async function fillStore(url: string, registry: string): Promise<void> {
  const store = await openStore(url, systemClock)
  try {
    const { changes } = await sync(registryAt(registry), emptyCatalog, systemClock.now())
    if (!(await store.changeCatalog(0, changes))) throw new Error('the catalog was not written')
  } finally {
    await store.close()
  }
}

async function measureAnswers(start: () => Promise<Served>, rounds: number): Promise<Result[]> {
  const broker = await start()
  try {
    const first = await fetchCatalog(broker)
    if (first.services !== count) throw new Error(`the catalog has ${first.services} services, not ${count}`)
    const { port } = broker
    const measured = await compareAnswers('/v2/catalog', { port, connections, rounds })
    const name = `catalog of ${count} services (${(first.bytes / 1e6).toFixed(0)} MB) over HTTP, ${connections} connections`
    return [toResult(name, 'req/s', measured, { text: '1 (>= 0.95)', met: ratio => ratio >= 0.95 })]
  } finally {
    await broker.stop()
  }
}

async function measureStarts(start: () => Promise<Served>, rounds: number): Promise<Result[]> {
  const times: Round[] = []
  const sizes: Round[] = []
  for (let round = 0; round < rounds; round++) {
    const bare = await measureBareStart()
    const ours = await measureStart(start)
    times.push({ ours: ours.ms, baseline: bare.ms })
    sizes.push({ ours: ours.megabytes, baseline: bare.megabytes })
  }
  const what = `with ${count} stored services, against a bare server`
  return [
    toResult(`start to ready ${what}`, 'ms', times, noGoal),
    toResult(`memory 3 s later ${what}`, 'MB', sizes, noGoal),
  ]
}

async function fetchCatalog({ url }: Served): Promise<{ readonly services: number; readonly bytes: number }> {
  const answer = await fetch(`${url}/v2/catalog`, { headers: osbHeaders })
  const text = await answer.text()
  const { services } = JSON.parse(text)
  return { services: services.length, bytes: Buffer.byteLength(text) }
}
