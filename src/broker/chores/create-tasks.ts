import type { ChoreTask } from '../../engine/chores.ts'
import type { Schedule } from '../../engine/due-chore.ts'
import type { ReadSettings } from '../../settings/settings.ts'
import type { BrokerContext } from '../context.ts'
import { type CleanUpKind, cleanUpOperations } from './clean-up.ts'
import { observeDue } from './observe.ts'
import { removeInBatches } from './remove-in-batches.ts'

export interface TaskOptions {
  /** Throws if the pattern is not valid. */
  readonly createSchedule: (pattern: string, timeZone: string) => Schedule
  /** Whether any service has something to observe. */
  readonly observes: boolean
  readonly random: () => number
  /** Where registries are configured. */
  readonly sync?: ChoreTask['run']
}

const kinds: readonly CleanUpKind[] = ['all', 'succeeded', 'failed']

/** Every chore of a broker. Those without a pattern are off, and are run by hand only. */
export function createChoreTasks(broker: BrokerContext, options: TaskOptions): readonly ChoreTask[] {
  const { chores: settings } = broker.settings
  const { sync } = options
  return [
    {
      name: 'observe',
      ...scheduled('observe', options.observes ? settings.observe : '-', settings, options),
      run: run => observeDue(broker, run, options.random),
    },
    {
      name: 'purge',
      ...scheduled('purge', settings.purge, settings, options),
      run: async run => {
        const before = run.now() - settings.purgeAfter
        const purged = await removeInBatches(run, max => broker.store.purge(before, max), ['tombstone', 'tombstones'])
        const deleted = broker.registered === undefined ? undefined : await deleteRevisions(broker)
        return [purged, deleted].filter(done => done !== undefined).join(', ') || undefined
      },
    },
    ...(sync === undefined
      ? []
      : [{ name: 'sync', ...scheduled('sync', settings.sync, settings, options), run: sync }]),
    ...(['instances', 'bindings'] as const).flatMap(of =>
      kinds.map(kind => ({
        name: `clean-up-${of}-${kind}`,
        ...scheduled(`cleanUp.${of}.${kind}`, settings.cleanUp[of][kind] ?? '-', settings, options),
        run: (run: Parameters<ChoreTask['run']>[0]) =>
          cleanUpOperations(broker.store, run, { of, kind, age: settings.cleanUp[of].age }),
      })),
    ),
  ]
}

async function deleteRevisions({ store }: BrokerContext): Promise<string | undefined> {
  const { deleteUnusedRevisions } = await import('../registries/delete-unused-revisions.ts')
  const deleted = await deleteUnusedRevisions(store)
  if (deleted === 0) return undefined
  return `removed ${deleted} unused ${deleted === 1 ? 'revision' : 'revisions'}`
}

function scheduled(
  setting: string,
  pattern: string,
  { timeZone }: ReadSettings['chores'],
  { createSchedule }: TaskOptions,
): { readonly schedule?: Schedule } {
  if (pattern === '-') return {}
  try {
    return { schedule: createSchedule(pattern, timeZone) }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new RangeError(`chores.${setting} is "${pattern}" in the time zone ${timeZone}: ${reason}`)
  }
}
