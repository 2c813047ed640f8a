import { sleep } from '../clock.ts'
import type { Store } from '../store.ts'
import type { Chore, Upkeep } from '../upkeep.ts'
import { type ChoreRun, runChore } from './chore-run.ts'
import type { HolderOptions } from './held-lease.ts'
import { createOutage } from './outage.ts'
import type { Schedule } from './schedule.ts'

/** Upkeep that one replica at a time does, once in each period. */
export interface ChoreTask {
  readonly name: string
  /** Absent: off, and run by hand only. */
  readonly schedule?: Schedule
  /** Says in a sentence what was done, for operators; undefined where there was nothing to do. */
  run(run: ChoreRun): Promise<string | undefined>
}

export interface ChoresOptions extends HolderOptions {
  readonly store: Upkeep & Pick<Store, 'name'>
  readonly tasks: readonly ChoreTask[]
}

export interface ChoreStatus {
  readonly name: string
  readonly schedule?: Schedule
  readonly nextAt?: number
  /** The latest run, of whichever replica. */
  readonly latest?: Chore
  readonly running: boolean
  /** Nobody has taken it for several periods, and nobody runs it. */
  readonly late: boolean
}

export interface RunningChores {
  readonly names: readonly string[]
  list(): Promise<readonly ChoreStatus[]>
  /** Takes the chore for now, whatever its schedule says, and answers the period's time; undefined where it runs already. */
  run(name: string): Promise<number | undefined>
  /** Aborts what runs and waits for it. */
  stop(): Promise<void>
}

/** However quiet it is, the ledger is looked at this often: what another replica left unfinished shows there only. */
const longestWait = 60_000
const pauseAfterFailure = 5_000

/**
 * Runs each chore once per period over all replicas. The schedule goes by the store's clock, which every look brings along,
 * and the ledger decides who runs: a replica whose own clock is wrong takes nothing too early and nothing twice.
 */
export function startChores(options: ChoresOptions): RunningChores {
  const { store, clock, observer, owner, leaseTime, tasks } = options
  const outage = options.outage ?? createOutage(store.name, observer, clock)
  const stopping = new AbortController()
  const running = new Map<string, Promise<void>>()
  let wake = new AbortController()
  let since: number | undefined

  const take = async (task: ChoreTask, dueAt: number, offset: number): Promise<boolean> => {
    const sentAt = clock.now()
    const lease = await store.takeChore({ name: task.name, dueAt, owner, leaseTime })
    if (lease === undefined) return false
    const work = { store, clock, observer, leaseTime, lease, sentAt, storeNow: sentAt + offset }
    const done = runChore(run => task.run(run), { ...work, stopping: stopping.signal }).finally(() => {
      running.delete(task.name)
      wake.abort()
    })
    running.set(task.name, done)
    return true
  }

  /** Takes what is due and answers how long there is nothing more to do. */
  const look = async (): Promise<number> => {
    const askedAt = clock.now()
    const { now, chores } = await store.chores()
    since ??= now
    let nextAt = now + longestWait
    for (const task of tasks) {
      if (stopping.signal.aborted || running.has(task.name)) continue
      const row = chores.find(({ name }) => name === task.name)
      const dueAt = findDuePeriod(task.schedule, row, { now, since })
      // Whoever was faster may fail: then there is something to take over when that lease is over.
      if (dueAt !== undefined && !(await take(task, dueAt, now - askedAt))) nextAt = Math.min(nextAt, now + leaseTime)
      nextAt = Math.min(nextAt, findNextLook(task.schedule, row, now) ?? nextAt)
    }
    return Math.max(1, nextAt - now)
  }

  const lookUntilStopped = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      wake = new AbortController()
      let pause = pauseAfterFailure
      const sentAt = clock.now()
      try {
        pause = await look()
        outage.end('chores')
      } catch (error) {
        outage.begin('chores', error, sentAt)
      }
      if (!stopping.signal.aborted) await sleep(clock, pause, wake.signal)
    }
  }
  const loop = lookUntilStopped()

  return {
    names: tasks.map(({ name }) => name),
    async list() {
      const { now, chores } = await store.chores()
      return tasks.map(({ name, schedule }) => {
        const latest = chores.find(chore => chore.name === name)
        const running = latest !== undefined && isHeld(latest, now)
        const late = !running && isLate(schedule, latest, { now, since: since ?? now })
        return { name, schedule, nextAt: schedule?.next(now), latest, running, late }
      })
    },
    async run(name) {
      const task = tasks.find(candidate => candidate.name === name)
      if (task === undefined || stopping.signal.aborted) return undefined
      const askedAt = clock.now()
      const { now } = await store.chores()
      return (await take(task, now, now - askedAt)) ? now : undefined
    },
    async stop() {
      stopping.abort()
      wake.abort()
      await loop
      await Promise.all(running.values())
    },
  }
}

/**
 * The period that a chore is to be taken for now, if there is one: the latest that nobody took (of several that were
 * missed, only that one), or the one whose holder is gone before it ended. A chore that never ran has missed nothing before
 * `since`, when this process began to look.
 */
function findDuePeriod(
  schedule: Schedule | undefined,
  row: Chore | undefined,
  { now, since }: { readonly now: number; readonly since: number },
): number | undefined {
  if (row !== undefined && isHeld(row, now)) return undefined
  const latest = schedule?.latest(now)
  if (latest !== undefined && latest > (row?.dueAt ?? since)) return latest
  return row !== undefined && row.finishedAt === undefined ? row.dueAt : undefined
}

/** When there can be something to do for a chore, after what is due now: at its next time, or when its holder's lease ends. */
function findNextLook(schedule: Schedule | undefined, row: Chore | undefined, now: number): number | undefined {
  if (row?.leaseUntil !== undefined && isHeld(row, now)) return row.leaseUntil
  return schedule?.next(now)
}

const lateAfter = 3

/** So many periods have begun since the one that was taken last, or since this process has looked. */
function isLate(
  schedule: Schedule | undefined,
  row: Chore | undefined,
  { now, since }: { readonly now: number; readonly since: number },
): boolean {
  let at: number | undefined = Math.max(row?.dueAt ?? since, since)
  for (let period = 0; period < lateAfter && at !== undefined; period += 1) at = schedule?.next(at)
  return at !== undefined && at <= now
}

function isHeld({ finishedAt, leaseUntil }: Chore, now: number): boolean {
  return finishedAt === undefined && leaseUntil !== undefined && leaseUntil > now
}
