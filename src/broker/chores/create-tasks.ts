import { decideObserve } from '../../domain/decide-observe.ts'
import { newId } from '../../domain/new-id.ts'
import type { FinalState } from '../../domain/operation.ts'
import type { ChoreRun } from '../../engine/chore-run.ts'
import type { ChoreTask } from '../../engine/chores.ts'
import type { Schedule } from '../../engine/schedule.ts'
import { count } from '../../shape/count.ts'
import { messageOf } from '../../shape/thrown.ts'
import { accept } from '../accept.ts'
import { runBatches } from '../batches/run-batches.ts'
import type { BrokerContext } from '../context.ts'
import { nextObservation, observationTimeout } from '../find-work.ts'
import { historyChore, keepHistory } from '../history/link-history.ts'
import { rotateKeys, rotateKeysChore } from '../keys/rotate-keys.ts'
import { deleteUnusedRevisions } from '../registries/delete-unused-revisions.ts'
import { takeSurvey } from '../survey.ts'
import { expireBindings } from './expire-bindings.ts'

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
        const forgotten = await removeInBatches(run, 'note', max => broker.store.forgetNotes(max))
        const deleted = broker.registered === undefined ? 0 : await deleteUnusedRevisions(broker.store)
        const removed = deleted === 0 ? undefined : `removed ${count(deleted, 'unused revision')}`
        return [purged, removed, forgotten].filter(done => done !== undefined).join(', ') || undefined
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
  tasks.push({
    name: 'survey',
    schedule: schedule('survey', settings.survey),
    run: run => takeSurvey(broker, run.now()),
  })
  const { chain } = broker.store
  if (chain !== undefined)
    tasks.push({
      name: historyChore,
      schedule: schedule('history', settings.history),
      run: run => keepHistory(broker, chain, run),
    })
  // By hand only. One that was cut off is taken over, as every chore is.
  if (broker.store.sealing?.keyring !== undefined)
    tasks.push({ name: rotateKeysChore, run: run => rotateKeys(broker, run) })
  tasks.push({ name: 'batches', schedule: schedule('batches', settings.batches), run: run => runBatches(broker, run) })
  tasks.push({ name: 'expiry', schedule: schedule('expiry', settings.expiry), run: run => expireBindings(broker, run) })
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

const observationBatch = 100

/**
 * Turns due observations into operations, which any replica then claims. The decision is made under the instance's lock,
 * so that each observation becomes one operation, also where a run is taken over from one that is not dead.
 */
async function observeDue(
  broker: BrokerContext,
  { signal, now }: ChoreRun,
  random: () => number,
): Promise<string | undefined> {
  let begun = 0
  while (true) {
    const due = await broker.store.dueForObservation(observationBatch)
    for (const instanceId of due) {
      signal.throwIfAborted()
      if (await begin(broker, instanceId, now(), random)) begun += 1
    }
    if (due.length < observationBatch) return begun === 0 ? undefined : `began ${count(begun, 'observation')}`
  }
}

/** The next one is scheduled by the store's clock, as the ledger compares it with that. */
async function begin(broker: BrokerContext, instanceId: string, now: number, random: () => number): Promise<boolean> {
  const instance = await broker.store.instance(instanceId)
  if (instance === undefined) return false
  const service = broker.services.of(instance)
  const { serviceId } = instance
  const intent = { operationId: newId(now), instanceId, serviceId, timeout: observationTimeout }
  const at = service === undefined ? now + broker.settings.engine.observeEvery : nextObservation(service, now, random)
  const next = { at, possible: service?.code.observe !== undefined }
  return accept(broker, { instanceId }, snapshot => decideObserve(snapshot, intent, next))
}
