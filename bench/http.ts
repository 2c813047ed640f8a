import { join } from 'node:path'
import { answerOf, startBare } from './bare.ts'
import { createBareTransactions } from './bare-transactions.ts'
import { type Child, startChild, untilFinished, warmUp } from './child.ts'
import { drive } from './load.ts'
import { inNewFolder } from './new-folder.ts'
import { onLoadCore } from './pin.ts'
import { processorSeconds } from './processor.ts'
import { osbRequest, provisionBody, provisionRequest } from './requests.ts'
import { atLeast, noGoal, type Result, type Round, toResult } from './result.ts'

/** Each process serves every kind of request in turn, as brokers do: what one of them does to the others counts. */
const starts = 3
const connections = 32
const ms = 700
const operations = 1_500

const reads = {
  catalog: { goal: 0.8, name: 'catalog' },
  poll: { goal: 0.8, name: 'last_operation' },
  named: { goal: 0.8, name: 'last_operation with its operation' },
  other: { goal: 0.8, name: 'last_operation with an operation of another instance' },
}
const lines = {
  ...reads,
  provision: { goal: 0.12, name: 'provisions accepted, the worker at work, SQLite FULL' },
  accepted: { goal: 1, name: 'provisions accepted, against bare transactions' },
  completed: { goal: 0.3, name: 'three-step operations accepted and completed, against bare transactions' },
}
interface Measured {
  readonly rates: Record<keyof typeof lines, Round[]>
  /** Requests for each second of processor that the server has used. */
  readonly costs: Record<keyof typeof reads, Round[]>
  /** How much of its core a server used while it was read from: with much less than all of it, the load is what was measured. */
  readonly shares: Round[]
}

/** A broker on SQLite over HTTP against bare node:http that sends the same bytes, and against bare transactions. */
export async function benchHttp(rounds: number): Promise<Result[]> {
  const measured: Measured = {
    rates: { catalog: [], poll: [], named: [], other: [], provision: [], accepted: [], completed: [] },
    costs: { catalog: [], poll: [], named: [], other: [] },
    shares: [],
  }
  for (let start = 0; start < starts; start++)
    await inNewFolder(folder => onLoadCore(() => measureProcess(folder, Math.ceil(rounds / 2), measured)))
  const where = `${connections} connections, ${starts} starts`
  return [
    ...entriesOf(lines).map(([line, { name, goal }]) =>
      toResult(`${name}, ${where}`, 'req/s', measured.rates[line], atLeast(goal)),
    ),
    ...entriesOf(reads).map(([line, { name }]) =>
      toResult(`${name}, for each second of processor, ${where}`, 'req', measured.costs[line], noGoal),
    ),
    toResult('share of its core that the server used for these answers', '', measured.shares, noGoal),
  ]
}

function entriesOf<Key extends string, Value>(record: Readonly<Record<Key, Value>>): [Key, Value][] {
  return Object.entries(record) as [Key, Value][]
}

async function measureProcess(folder: string, rounds: number, measured: Measured): Promise<void> {
  const broker = await startChild('broker.mjs', [`sqlite:${join(folder, 'ledger.db')}`, '3'])
  const transactions = await createBareTransactions(folder)
  let bare: Child | undefined
  try {
    const instances = `http://127.0.0.1:${broker.port}/v2/service_instances`
    const put = (id: string) =>
      answerOf(`${instances}/${id}?accepts_incomplete=true`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: provisionBody,
      })
    const accepted = await put('polled')
    const [named, other] = [accepted, await put('other')].map(([, , body]) => JSON.parse(body).operation)
    let total = 2
    await untilFinished(broker, total)
    const polled = '/v2/service_instances/polled/last_operation'
    const paths = {
      catalog: '/v2/catalog',
      poll: polled,
      named: `${polled}?service_id=bench&plan_id=plan-0&operation=${named}`,
      other: `${polled}?operation=${other}`,
    }
    const answers = Object.values(paths).map(
      async path => [path, await answerOf(`http://127.0.0.1:${broker.port}${path}`)] as const,
    )
    bare = await startBare(folder, { ...Object.fromEntries(await Promise.all(answers)), PUT: accepted })
    const { port } = bare
    const get = async (path: string, to: Child) => {
      const request = osbRequest('GET', path)
      const before = processorSeconds(to.process.pid)
      const load = await drive({ port: to.port, connections, status: 200, ms, request: () => request })
      return { rate: load.perSecond, cost: load.answers / (processorSeconds(to.process.pid) - before) }
    }
    const provisions = async (to: number, limit: { readonly ms?: number; readonly count?: number }) => {
      const first = total
      const request = (n: number) => provisionRequest(`instance-${first + n}`)
      const load = await drive({ port: to, connections, status: 202, request, ...limit })
      if (to === broker.port) total += load.answers
      return load.perSecond
    }
    await provisions(broker.port, { ms: warmUp })
    await untilFinished(broker, total)
    for (let round = 0; round <= rounds; round++) {
      // The first round warms up what is left.
      const note = (rounds: Round[], baseline: number, ours: number) => {
        if (round > 0) rounds.push({ ours, baseline })
      }
      for (const [line, path] of entriesOf(paths)) {
        const baseline = await get(path, bare)
        const ours = await get(path, broker)
        note(measured.rates[line], baseline.rate, ours.rate)
        note(measured.costs[line], baseline.cost, ours.cost)
        note(measured.shares, baseline.rate / baseline.cost, ours.rate / ours.cost)
      }
      const bareAnswers = await provisions(port, { ms })
      const before = transactions.run(ms)
      const acceptedPerSecond = await provisions(broker.port, { ms })
      await untilFinished(broker, total)
      note(measured.rates.provision, bareAnswers, acceptedPerSecond)
      note(measured.rates.accepted, before, acceptedPerSecond)
      const started = performance.now()
      await provisions(broker.port, { count: operations })
      await untilFinished(broker, total)
      note(measured.rates.completed, before, (operations * 1000) / (performance.now() - started))
    }
  } finally {
    transactions.close()
    await broker.stop()
    await bare?.stop()
  }
}
