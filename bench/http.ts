import { join } from 'node:path'
import { answerOf, startBare } from './bare.ts'
import { createBareTransactions } from './bare-transactions.ts'
import { type Child, startChild } from './child.ts'
import { drive } from './load.ts'
import { inNewFolder } from './new-folder.ts'
import { onLoadCore } from './pin.ts'
import { osbRequest, provisionBody, provisionRequest } from './requests.ts'
import { atLeast, type Result, type Round, toResult } from './result.ts'

/** Each process serves every kind of request in turn, as brokers do: what one of them does to the others counts. */
const starts = 3
const connections = 32
const ms = 700
const operations = 1_500

const lines = {
  catalog: { goal: 0.8, name: 'catalog' },
  poll: { goal: 0.8, name: 'last_operation' },
  named: { goal: 0.8, name: 'last_operation with its operation' },
  other: { goal: 0.8, name: 'last_operation with an operation of another instance' },
  provision: { goal: 0.12, name: 'provisions accepted, the worker at work, SQLite FULL' },
  accepted: { goal: 1, name: 'provisions accepted, against bare transactions' },
  completed: { goal: 0.3, name: 'three-step operations accepted and completed, against bare transactions' },
}
type Measured = Record<keyof typeof lines, Round[]>

/** A broker on SQLite over HTTP against bare node:http that sends the same bytes, and against bare transactions. */
export async function benchHttp(rounds: number): Promise<Result[]> {
  const measured: Measured = { catalog: [], poll: [], named: [], other: [], provision: [], accepted: [], completed: [] }
  for (let start = 0; start < starts; start++)
    await inNewFolder(folder => onLoadCore(() => measureProcess(folder, Math.ceil(rounds / 2), measured)))
  return Object.entries(lines).map(([line, { name, goal }]) =>
    toResult(
      `${name}, ${connections} connections, ${starts} starts`,
      'req/s',
      measured[line as keyof Measured],
      atLeast(goal),
    ),
  )
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
    const get = async (path: string, to: number) => {
      const request = osbRequest('GET', path)
      return (await drive({ port: to, connections, status: 200, ms, request: () => request })).perSecond
    }
    const provisions = async (to: number, limit: { readonly ms?: number; readonly count?: number }) => {
      const first = total
      const request = (n: number) => provisionRequest(`instance-${first + n}`)
      const load = await drive({ port: to, connections, status: 202, request, ...limit })
      if (to === broker.port) total += load.answers
      return load.perSecond
    }
    for (let round = 0; round <= rounds; round++) {
      const note = (line: keyof Measured, baseline: number, ours: number) => {
        // The first round warms everything up.
        if (round > 0) measured[line].push({ ours, baseline })
      }
      for (const [line, path] of Object.entries(paths) as [keyof typeof paths, string][])
        note(line, await get(path, port), await get(path, broker.port))
      const bareAnswers = await provisions(port, { ms })
      const before = transactions.run(ms)
      const acceptedPerSecond = await provisions(broker.port, { ms })
      await untilFinished(broker, total)
      note('provision', bareAnswers, acceptedPerSecond)
      note('accepted', before, acceptedPerSecond)
      const started = performance.now()
      await provisions(broker.port, { count: operations })
      await untilFinished(broker, total)
      note('completed', before, (operations * 1000) / (performance.now() - started))
    }
  } finally {
    transactions.close()
    await broker.stop()
    await bare?.stop()
  }
}

async function untilFinished(broker: Child, count: number): Promise<void> {
  while (Number(await broker.ask('finished?')) < count) await new Promise(resolve => setTimeout(resolve, 5))
}
