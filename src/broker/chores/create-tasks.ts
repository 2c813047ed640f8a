import type { FinalState } from '../../domain/operation.ts'
import type { ChoreRun } from '../../engine/chore-run.ts'
import type { ChoreTask } from '../../engine/chores.ts'
import type { Schedule } from '../../engine/due-chore.ts'
import { count } from '../../engine/errors.ts'
import { messageOf } from '../../shape/thrown.ts'
import type { BrokerContext } from '../context.ts'
import { deleteUnusedRevisions } from '../registries/delete-unused-revisions.ts'
import { observeDue } from './observe.ts'

export interface TaskOptions {
  /** Throws if the pattern is not valid. */
  readonly createSchedule: (pattern: string, timeZone: string) => Schedule
  /** Whether any service has something to observe. */
  readonly observes: boolean
  readonly random: () => number
  /** Where registries are configured. */
  readonly sync?: ChoreTask['run']
}

/** What each clean-up removes. An operation that a deletion took over from is neither a success nor a failure of its own. */
const states = {
  all: ['succeeded', 'failed', 'superseded'],
  succeeded: ['succeeded'],
  failed: ['failed'],
} satisfies Record<string, readonly FinalState[]>
const kinds = Object.keys(states) as (keyof typeof states)[]

/** Every chore of a broker. Those without a pattern are off, and are run by hand only. */
export function createChoreTasks(broker: BrokerContext, options: TaskOptions): readonly ChoreTask[] {
  const { chores: settings } = broker.settings
  const { observes, random, sync } = options

  /** The setting is named as it stands below `chores`. */
  const schedule = (setting: string, pattern = '-'): Schedule | undefined => {
    if (pattern === '-') return undefined
    const { timeZone } = settings
    try {
      return options.createSchedule(pattern, timeZone)
    } catch (error) {
      const reason = messageOf(error)
      throw new RangeError(`chores.${setting} is "${pattern}" in the time zone ${timeZone}: ${reason}`)
    }
  }

  const tasks: ChoreTask[] = [
    {
      name: 'observe',
      schedule: schedule('observe', observes ? settings.observe : '-'),
      run: run => observeDue(broker, run, random),
    },
    {
      name: 'purge',
      schedule: schedule('purge', settings.purge),
      run: async run => {
        const before = run.now() - settings.purgeAfter
        const purged = await removeInBatches(run, 'tombstone', max => broker.store.purge(before, max))
        const deleted = broker.registered === undefined ? 0 : await deleteUnusedRevisions(broker.store)
        const removed = deleted === 0 ? undefined : `removed ${count(deleted, 'unused revision')}`
        return [purged, removed].filter(done => done !== undefined).join(', ') || undefined
      },
    },
  ]
  if (sync !== undefined) tasks.push({ name: 'sync', schedule: schedule('sync', settings.sync), run: sync })
  for (const of of ['instances', 'bindings'] as const)
    for (const kind of kinds)
      tasks.push({
        name: `clean-up-${of}-${kind}`,
        schedule: schedule(`cleanUp.${of}.${kind}`, settings.cleanUp[of][kind]),
        // The ledger knows which ones have to stay.
        run: run => {
          const before = run.now() - settings.cleanUp[of].age
          const remove = (max: number) => broker.store.cleanUp({ of, states: states[kind], before, max })
          return removeInBatches(run, 'operation', remove)
        },
      })
  return tasks
}

/** Small enough that the locks of one batch delay no request. */
const batchSize = 500

/** Removes until nothing is left, a batch at a time, and says how much that was. */
async function removeInBatches(
  { signal }: ChoreRun,
  noun: string,
  remove: (max: number) => Promise<number>,
): Promise<string | undefined> {
  let removed = 0
  while (true) {
    signal.throwIfAborted()
    const more = await remove(batchSize)
    removed += more
    if (more > 0) continue
    return removed === 0 ? undefined : `removed ${removed.toLocaleString('en-US')} ${noun}${removed === 1 ? '' : 's'}`
  }
}
