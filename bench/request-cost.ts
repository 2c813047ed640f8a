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

const connections = 32
/** Long enough that one collection of garbage, or one switch of the processor, is a small part of it. */
export const atOnce = { polls: 5_000, provisions: 3_000 }
/** Before anything is measured: as long as a broker compiles its code, that is what most of the time goes to. */
export const warmUp = { polls: 20_000, provisions: 6_000 }

/** Makes the instance that is polled. */
export async function makePolled(child: Child): Promise<void> {
  const request = () => provisionRequest('polled')
  await drive({ port: child.port, connections: 1, count: 1, status: 202, request })
  await untilFinished(child, 1)
}

/** Of so many provisions, from number `first` of the instances on. */
export async function provisionCosts(child: Child, provisions: number, first: number): Promise<Omit<Costs, 'poll'>> {
  const { port } = child
  const spent = () => processorSeconds(child.process.pid) * 1e6
  const before = spent()
  const provision = (n: number) => provisionRequest(`instance-${first + n}`)
  await drive({ port, connections, count: provisions, status: 202, request: provision })
  const answered = spent()
  await untilFinished(child, first + provisions)
  return { accepted: (answered - before) / provisions, provision: (spent() - before) / provisions }
}

/** Of so many polls of the instance that was made for them. */
export async function pollCost({ port, process }: Child, polls: number): Promise<number> {
  const poll = osbRequest('GET', '/v2/service_instances/polled/last_operation')
  const before = processorSeconds(process.pid)
  await drive({ port, connections, count: polls, status: 200, request: () => poll })
  return ((processorSeconds(process.pid) - before) * 1e6) / polls
}
