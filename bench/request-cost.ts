import { type Child, untilFinished } from './child.ts'
import { drive } from './load.ts'
import { processorSeconds } from './processor.ts'
import { osbRequest, provisionRequest } from './requests.ts'

/** Microseconds of the processor for each request. */
export interface Costs {
  readonly poll: number
  /** Until it is answered; the worker is at work meanwhile. */
  readonly accepted: number
  /** Until the operation has ended. */
  readonly provision: number
}

export const costNames = [
  ['poll', 'last_operation'],
  ['accepted', 'provisions accepted, the worker at work'],
  ['provision', 'provisions to their end'],
] as const satisfies readonly (readonly [keyof Costs, string])[]

/** So many at a time, from number `first` of the instances on. */
export interface Requests {
  readonly polls: number
  readonly provisions: number
  readonly first: number
}

const connections = 32
/** Long enough that one collection of garbage, or one switch of the processor, is a small part of it. */
export const atOnce = { polls: 30_000, provisions: 3_000 }
/** Before anything is measured: as long as a broker compiles its code, that is what most of the time goes to. */
export const warmUp = { polls: 20_000, provisions: 6_000 }

/** Makes the instance that is polled. */
export async function makePolled(child: Child): Promise<void> {
  const request = () => provisionRequest('polled')
  await drive({ port: child.port, connections: 1, count: 1, status: 202, request })
  await untilFinished(child, 1)
}

/** First the provisions, then polls of one instance. */
export async function costsOf(child: Child, { polls, provisions, first }: Requests): Promise<Costs> {
  const { port } = child
  const spent = () => processorSeconds(child.process.pid) * 1e6
  const before = spent()
  const provision = (n: number) => provisionRequest(`instance-${first + n}`)
  await drive({ port, connections, count: provisions, status: 202, request: provision })
  const answered = spent()
  await untilFinished(child, first + provisions)
  const ended = spent()
  const poll = osbRequest('GET', '/v2/service_instances/polled/last_operation')
  await drive({ port, connections, count: polls, status: 200, request: () => poll })
  return {
    poll: (spent() - ended) / polls,
    accepted: (answered - before) / provisions,
    provision: (ended - before) / provisions,
  }
}
