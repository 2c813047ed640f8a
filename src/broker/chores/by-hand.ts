import { type Acting, acted, noInstance } from '../../domain/operator.ts'
import type { RunningChores } from '../../engine/chores.ts'
import { BrokerError } from '../../protocol/errors.ts'
import type { BrokerContext } from '../context.ts'
import { writeAct } from '../write-act.ts'

export type { ChoreStatus, RunningChores } from '../../engine/chores.ts'

/** Begins a run now, in this process and under the chore's lease; answers the time that the run stands for. */
export async function runChoreByHand(chores: RunningChores, name: string): Promise<number> {
  const { names } = chores
  if (!names.includes(name))
    throw new BrokerError('UnknownChore', `There is no chore "${name}". There are ${names.join(', ')}.`)
  const dueAt = await chores.run(name)
  if (dueAt === undefined)
    throw new BrokerError('ChoreRunning', `The chore ${name} is running already. Repeat the request when it has ended.`)
  return dueAt
}

/** The same, of an operator who asks for it. The line of the history comes as soon as it has begun: what is refused leaves none. */
export async function runChoreOf(
  { store }: Pick<BrokerContext, 'store'>,
  chores: RunningChores,
  acting: Acting,
  name: string,
): Promise<number> {
  const dueAt = await runChoreByHand(chores, name)
  const about = { instanceId: noInstance, before: {}, after: { chore: name } }
  await writeAct(store, at => acted('run-chore', acting, { at, ...about }))
  return dueAt
}
