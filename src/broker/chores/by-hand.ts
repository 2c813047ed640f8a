import type { RunningChores } from '../../engine/chores.ts'
import { BrokerError } from '../../protocol/errors.ts'

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
