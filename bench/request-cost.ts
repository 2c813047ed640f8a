import type { Child } from './child.ts'
import { drive } from './load.ts'
import { processorSeconds } from './processor.ts'
import { osbRequest, provisionRequest } from './requests.ts'

export type Kind = 'poll' | 'provision'

const connections = 32
export const counts: Readonly<Record<Kind, number>> = { poll: 6_000, provision: 400 }
/** So many of each before anything is measured: as long as a broker compiles its code, that is what most of the time goes to. */
export const warmUp: Readonly<Record<Kind, number>> = { poll: 20_000, provision: 4_000 }

/** Makes the instance that is polled. */
export async function makePolled(child: Child): Promise<void> {
  const request = () => provisionRequest('polled')
  await drive({ port: child.port, connections: 1, count: 1, status: 202, request })
  await untilFinished(child, 1)
}

/** Microseconds of the processor for each request: polls of one instance, or provisions to their end from number `first` on. */
export async function costOf(
  child: Child,
  { kind, first, count }: { readonly kind: Kind; readonly first: number; readonly count: number },
): Promise<number> {
  const request = osbRequest('GET', '/v2/service_instances/polled/last_operation')
  const before = processorSeconds(child.process.pid)
  await drive({
    port: child.port,
    connections,
    count,
    status: kind === 'poll' ? 200 : 202,
    request: kind === 'poll' ? () => request : n => provisionRequest(`instance-${first + n}`),
  })
  if (kind === 'provision') await untilFinished(child, first + count)
  return ((processorSeconds(child.process.pid) - before) / count) * 1e6
}

async function untilFinished(broker: Child, count: number): Promise<void> {
  while (Number(await broker.ask('finished?')) < count) await new Promise(resolve => setTimeout(resolve, 5))
}
