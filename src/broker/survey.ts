import { sleep } from '../clock.ts'
import { BrokerError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { Survey } from '../reads.ts'
import type { RunningChores } from './chores/by-hand.ts'
import type { BrokerContext } from './context.ts'
import { listRegistries } from './registries/list-registries.ts'

/** Operations that ended so long ago at most are counted. */
export const surveyWindow = 3_600_000
const keepFor = 30 * 24 * 3_600_000

/** What was counted, and when: by one replica, for all of them. */
export interface Snapshot extends Survey {
  readonly revisions: readonly ServiceRevisions[]
}

/** A service that came from a registry, and where its instances stand. */
export interface ServiceRevisions {
  readonly serviceId: string
  readonly name: string
  /** What new instances are provisioned with; absent where the service is retired. */
  readonly current?: string
  readonly retiredAt?: number
  /** How many instances are pinned to the current revision, and to an older one; those of a retired service. */
  readonly instances: { readonly current: number; readonly behind: number; readonly retired: number }
  readonly revisions: readonly {
    readonly id: string
    readonly bundleVersion?: string
    readonly position: 'current' | 'behind' | 'retired'
    readonly instances: number
  }[]
}

/** The chore `survey`: counts, and writes it down for whoever asks. */
export async function takeSurvey({ store, registered }: BrokerContext, now: number): Promise<undefined> {
  const survey = await store.survey(now - surveyWindow)
  const revisions = registered === undefined ? [] : await countRevisions(store)
  const doc = JSON.parse(JSON.stringify({ ...survey, revisions })) as JsonObject
  await store.putBulletin({ kind: 'survey', key: '', doc, keepFor })
}

async function countRevisions(store: BrokerContext['store']): Promise<readonly ServiceRevisions[]> {
  const { services } = await listRegistries(store, [])
  return services.map(({ serviceId, name, revisionId, retiredAt, instances }) => {
    const isRetired = retiredAt !== undefined
    const revisions = instances.map(({ revisionId: id, bundleVersion, count }) => {
      const position = isRetired ? ('retired' as const) : id === revisionId ? ('current' as const) : ('behind' as const)
      return { id, bundleVersion, position, instances: count }
    })
    const sum = (of: string) =>
      revisions.filter(({ position }) => position === of).reduce((all, each) => all + each.instances, 0)
    return {
      serviceId,
      name,
      current: isRetired ? undefined : revisionId,
      retiredAt,
      instances: { current: sum('current'), behind: sum('behind'), retired: sum('retired') },
      revisions,
    }
  })
}

const pause = 50
const patience = 5_000

/** What was counted last. Where nobody has counted yet it is done now, by whoever gets the chore, and waited for. */
export async function readSnapshot(
  { store, clock, stopping }: BrokerContext,
  chores: RunningChores,
): Promise<{ readonly snapshot: Snapshot; readonly at: number; readonly now: number }> {
  for (let waited = 0; waited <= patience && !stopping.aborted; waited += pause) {
    const { now, bulletins } = await store.bulletins('survey')
    const [bulletin] = bulletins
    if (bulletin !== undefined) return { snapshot: bulletin.doc as unknown as Snapshot, at: bulletin.at, now }
    if (waited === 0) await chores.run('survey')
    await sleep(clock, pause, stopping)
  }
  throw new BrokerError(
    'NoSnapshot',
    'Nothing has been counted yet. Repeat the request later, or run the chore survey.',
    {
      retryAfter: 5,
    },
  )
}
