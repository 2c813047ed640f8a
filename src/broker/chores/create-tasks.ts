import type { ChoreTask } from '../../engine/chores.ts'
import type { Schedule } from '../../engine/due-chore.ts'
import type { BrokerContext } from '../context.ts'
import type { ChoreSettings } from '../settings.ts'
import { type CleanUpKind, cleanUpOperations } from './clean-up.ts'
import { observeDue } from './observe.ts'
import { removeInBatches } from './remove-in-batches.ts'

export interface TaskOptions {
  /** Throws where the pattern is none. */
  readonly createSchedule: (pattern: string, timeZone: string) => Schedule
  /** Whether any service has something to observe. */
  readonly observes: boolean
  readonly random: () => number
  /** Where registries are configured. */
  readonly sync?: ChoreTask['run']
}

const day = 86_400_000
const kinds: readonly CleanUpKind[] = ['all', 'succeeded', 'failed']

/** Every chore of a broker. Those without a pattern are off, and are run by hand only. */
export function createChoreTasks(broker: BrokerContext, options: TaskOptions): readonly ChoreTask[] {
  const { chores: settings } = broker.settings
  const { observe = '*/5 * * * * *', purge = '30 * * * *', purgeAfterMs = 30 * day, cleanUp = {} } = settings
  const { sync } = options
  return [
    {
      name: 'observe',
      ...scheduled('observe', options.observes ? observe : '-', settings, options),
      run: run => observeDue(broker, run, options.random),
    },
    {
      name: 'purge',
      ...scheduled('purge', purge, settings, options),
      run: async run => {
        // What is remembered for polls stays, whatever an embedding application has set.
        const before = run.now() - Math.max(purgeAfterMs, broker.settings.rememberDeletedMs)
        const purged = await removeInBatches(run, max => broker.store.purge(before, max), ['tombstone', 'tombstones'])
        const collected = broker.registered === undefined ? undefined : await collectRevisions(broker)
        return [purged, collected].filter(done => done !== undefined).join(', ') || undefined
      },
    },
    ...(sync === undefined
      ? []
      : [{ name: 'sync', ...scheduled('sync', settings.sync ?? '*/10 * * * *', settings, options), run: sync }]),
    ...(['instances', 'bindings'] as const).flatMap(of =>
      kinds.map(kind => ({
        name: `clean-up-${of}-${kind}`,
        ...scheduled(`cleanUp.${of}.${kind}`, cleanUp[of]?.[kind] ?? '-', settings, options),
        run: (run: Parameters<ChoreTask['run']>[0]) =>
          cleanUpOperations(broker.store, run, { of, kind, ageMs: cleanUp[of]?.ageMs ?? 3 * day }),
      })),
    ),
  ]
}

async function collectRevisions({ store }: BrokerContext): Promise<string | undefined> {
  const { deleteUnusedRevisions } = await import('../registries/delete-unused-revisions.ts')
  const collected = await deleteUnusedRevisions(store)
  if (collected === 0) return undefined
  return `removed ${collected} unused ${collected === 1 ? 'revision' : 'revisions'}`
}

function scheduled(
  setting: string,
  pattern: string,
  { timeZone = 'UTC' }: ChoreSettings,
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
