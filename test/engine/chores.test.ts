import { describe, expect, it, onTestFinished } from 'vitest'
import type { Clock } from '../../src/clock.ts'
import { type ChoreTask, type RunningChores, startChores } from '../../src/engine/chores.ts'
import { createSchedule } from '../../src/engine/schedule.ts'
import { observeLines } from '../../src/observer/log.ts'
import { silent } from '../../src/observer.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { type Store, StoreUnavailableError } from '../../src/store.ts'
import { createCrashableStore } from '../../src/testing/crash-points.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { minutes, seconds, takes } from './world.ts'

const start = Date.UTC(2026, 0, 1)
const leaseTime = seconds(30)

/** Several replicas over one ledger, whose runs are noted with the second in which they began. */
function createReplicas(
  options: { readonly pattern?: string; readonly lasts?: number; readonly timeZone?: string } = {},
) {
  const { pattern = '*/10 * * * * *', lasts = 0, timeZone = 'UTC' } = options
  const clock = createVirtualClock(start)
  const store = createMemoryStore({ clock })
  const began: string[] = []
  const ended: string[] = []
  const schedule = createSchedule(pattern, timeZone)
  const replica = (name: string, more: Partial<Parameters<typeof startChores>[0]> = {}) => {
    const task: ChoreTask = {
      name: 'chore',
      schedule,
      async run({ signal }) {
        began.push(`${name} ${(clock.now() - start) / 1000}`)
        if (lasts > 0) await takes(clock, lasts)
        signal.throwIfAborted()
        ended.push(name)
        return `done by ${name}`
      },
    }
    const chores = startChores({ store, clock, observer: silent, owner: name, leaseTime, tasks: [task], ...more })
    // A dead process is not stopped.
    if (more.store === undefined) onTestFinished(() => stop(chores))
    return chores
  }
  const stop = async (chores: RunningChores) => {
    const stopped = chores.stop()
    await clock.advance(minutes(5))
    await stopped
  }
  const row = async () => (await store.chores()).chores[0]
  return { clock, store, began, ended, replica, row, stop }
}

describe('chores', () => {
  it('run once per period, however many replicas there are', async () => {
    const { clock, began, replica, row } = createReplicas()
    for (const name of ['a', 'b', 'c']) replica(name)
    await clock.advance(seconds(35))
    expect(began.map(run => run.split(' ')[1])).toEqual(['10', '20', '30'])
    expect(await row()).toMatchObject({
      dueAt: start + seconds(30),
      finishedAt: start + seconds(30),
      result: { ok: true, message: expect.stringContaining('done by') },
    })
  })

  it('go by the store’s clock: a replica an hour ahead and one behind change nothing', async () => {
    const { clock, began, replica } = createReplicas({ pattern: '0 */30 * * * *' })
    const skewed = (ms: number): Clock => ({ now: () => clock.now() + ms, after: clock.after })
    replica('ahead', { clock: skewed(minutes(60)) })
    replica('behind', { clock: skewed(minutes(-60)) })
    replica('right')
    await clock.advance(minutes(95))
    expect(began.map(run => run.split(' ')[1])).toEqual(['1800', '3600', '5400'])
  })

  it('are told the store’s clock', async () => {
    const { clock, replica } = createReplicas()
    const seen: number[] = []
    const task: ChoreTask = {
      name: 'chore',
      schedule: createSchedule('*/10 * * * * *', 'UTC'),
      async run({ now }) {
        seen.push(now() - start)
        return undefined
      },
    }
    replica('ahead', { clock: { now: () => clock.now() + minutes(60), after: clock.after }, tasks: [task] })
    await clock.advance(seconds(10))
    expect(seen).toEqual([seconds(10)])
  })

  it('do not run at the start: what never ran has missed nothing', async () => {
    const { clock, began, replica } = createReplicas({ pattern: '0 3 * * *' })
    await clock.advance(minutes(600))
    replica('a')
    await clock.advance(minutes(60))
    expect(began).toEqual([])
    await clock.advance(minutes(16 * 60))
    expect(began).toEqual([`a ${27 * 3600}`])
  })

  it('make up for missed periods once', async () => {
    const { clock, began, replica, row, stop } = createReplicas({ pattern: '0 * * * *' })
    const first = replica('a')
    await clock.advance(minutes(61))
    await stop(first)
    await clock.advance(minutes(5 * 60))
    replica('b')
    await clock.advance(seconds(1))
    expect(began).toEqual(['a 3600', `b ${(61 + 5 + 300) * 60}`])
    expect(await row()).toMatchObject({ dueAt: start + minutes(360), owner: 'b' })
    await clock.advance(minutes(60))
    expect(began).toHaveLength(3)
  })

  it('are taken over when the lease of a replica that died is over, for the same period', async () => {
    const { clock, store, began, replica, row } = createReplicas({ pattern: '0 * * * *', lasts: seconds(5) })
    const dying = createCrashableStore(store)
    replica('a', { store: dying.store })
    await clock.advance(minutes(60) + seconds(2))
    dying.crash()
    replica('b')
    await clock.advance(seconds(27))
    expect(began).toEqual(['a 3600'])
    await clock.advance(seconds(10))
    expect(began).toEqual(['a 3600', 'b 3630'])
    expect(await row()).toMatchObject({ dueAt: start + minutes(60), owner: 'b', result: { ok: true } })
  })

  it('keep their lease while they run, and the next period waits for the end of a long run', async () => {
    const { clock, began, ended, replica } = createReplicas({ pattern: '0 * * * * *', lasts: seconds(150) })
    replica('a')
    replica('b')
    await clock.advance(seconds(60 + 149))
    expect([began.length, ended.length]).toEqual([1, 0])
    await clock.advance(seconds(1 + 30))
    expect(ended).toHaveLength(1)
    expect(began.map(run => Number(run.split(' ')[1]))).toEqual([60, expect.toSatisfy(at => at >= 210 && at <= 240)])
  })

  it('are aborted when the lease is lost, and write nothing then', async () => {
    const { clock, store, ended, replica, row } = createReplicas({ pattern: '0 * * * *', lasts: seconds(60) })
    const cut = unreachable(store)
    const log = createLog()
    replica('a', { store: cut.store, observer: log.observer })
    await clock.advance(minutes(60) + seconds(1))
    cut.away = true
    await clock.advance(seconds(60))
    expect(ended).toEqual([])
    expect(await row()).toMatchObject({ owner: 'a', leaseUntil: start + minutes(60) + leaseTime })
    expect(log.lines).toContain('warn chore interrupted: it is taken over when its lease is over (the lease was lost)')
    cut.away = false
    await clock.advance(minutes(3))
    expect(ended).toEqual(['a'])
  })

  it('that fail say why, and their next period tries again', async () => {
    const { clock, replica, row } = createReplicas()
    const log = createLog()
    let fails = true
    const task: ChoreTask = {
      name: 'chore',
      schedule: createSchedule('*/10 * * * * *', 'UTC'),
      async run() {
        if (fails) throw new Error('no room')
        return undefined
      },
    }
    replica('a', { tasks: [task], observer: log.observer })
    await clock.advance(seconds(15))
    expect(await row()).toMatchObject({ result: { ok: false, message: 'no room' } })
    expect(log.lines).toEqual(['error chore failed: its next period tries again (no room)'])
    fails = false
    await clock.advance(seconds(10))
    expect(await row()).toMatchObject({ dueAt: start + seconds(20), result: { ok: true, message: 'nothing to do' } })
    expect(log.lines).toHaveLength(1)
  })

  it('wait while the store is away, log that once, and go on by themselves', async () => {
    const { clock, store, began, replica } = createReplicas()
    const cut = unreachable(store)
    const log = createLog()
    replica('a', { store: cut.store, observer: log.observer })
    await clock.advance(seconds(12))
    cut.away = true
    await clock.advance(minutes(10))
    cut.away = false
    await clock.advance(seconds(9))
    expect(began).toEqual(['a 10', 'a 615', 'a 620'])
    expect(log.lines.filter(line => !line.includes('chore done'))).toEqual([
      'error the store does not answer: no work is begun until it does (away)',
      'info the store answers again',
    ])
  })

  it('are interrupted by a stop, which leaves no timer; another replica takes the same period over', async () => {
    const { clock, store, began, ended, row } = createReplicas()
    const waiting: ChoreTask = {
      name: 'chore',
      schedule: createSchedule('0 * * * *', 'UTC'),
      run({ signal }) {
        began.push('a')
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
    }
    const options = { store, clock, observer: silent, leaseTime }
    const chores = startChores({ ...options, owner: 'a', tasks: [waiting] })
    await clock.advance(minutes(60))
    expect(began).toEqual(['a'])
    await chores.stop()
    expect(clock.pending()).toBe(0)
    expect((await row())?.finishedAt).toBeUndefined()
    const run = async () => {
      ended.push('b')
      return 'whole'
    }
    const next = startChores({ ...options, owner: 'b', tasks: [{ ...waiting, run }] })
    await clock.advance(leaseTime)
    expect(ended).toEqual(['b'])
    expect(await row()).toMatchObject({ dueAt: start + minutes(60), result: { ok: true, message: 'whole' } })
    await next.stop()
    expect(clock.pending()).toBe(0)
  })

  it('run by hand whatever their schedule says, one run at a time', async () => {
    const { clock, began, replica, row } = createReplicas({ pattern: '0 3 * * *', lasts: seconds(5) })
    const [a, b] = [replica('a'), replica('b')]
    await clock.advance(seconds(1))
    expect(await a.run('chore')).toBe(start + seconds(1))
    expect(await b.run('chore')).toBeUndefined()
    expect(await a.run('chore')).toBeUndefined()
    expect(await b.list()).toMatchObject([{ name: 'chore', running: true, nextAt: start + minutes(180) }])
    await clock.advance(seconds(5))
    expect(await a.list()).toMatchObject([{ running: false, latest: { result: { ok: true } } }])
    expect(await b.run('chore')).toBe(start + seconds(6))
    expect(await a.run('nothing')).toBeUndefined()
    await clock.advance(minutes(181))
    expect(began).toEqual(['a 1', 'b 6', expect.stringMatching(/^[ab] 10800$/)])
    expect(await row()).toMatchObject({ dueAt: start + minutes(180) })
  })

  it('are late when nobody has taken them for three periods', async () => {
    const { clock, store, replica, stop } = createReplicas({ pattern: '0 0 * * * *' })
    const chores = replica('a', { store: { ...store, takeChore: async () => undefined } })
    onTestFinished(() => stop(chores))
    const isLate = async () => (await chores.list())[0]?.late
    await clock.advance(minutes(179))
    expect(await isLate()).toBe(false)
    await clock.advance(minutes(2))
    expect(await isLate()).toBe(true)
    await store.takeChore({ name: 'chore', dueAt: clock.now(), owner: 'b', leaseTime })
    expect(await isLate()).toBe(false)
  })

  it('that are off run by hand only, and such a run is taken over too', async () => {
    const { clock, store, began, row } = createReplicas()
    const off = (name: string): ChoreTask => ({
      name: 'chore',
      async run() {
        began.push(name)
        await takes(clock, seconds(5))
        return 'done'
      },
    })
    const dying = createCrashableStore(store)
    const options = { clock, observer: silent, leaseTime }
    const first = startChores({ ...options, store: dying.store, owner: 'a', tasks: [off('a')] })
    const second = startChores({ ...options, store, owner: 'b', tasks: [off('b')] })
    await clock.advance(minutes(10))
    expect(began).toEqual([])
    await first.run('chore')
    dying.crash()
    await clock.advance(minutes(3))
    expect(began).toEqual(['a', 'b'])
    expect(await row()).toMatchObject({ owner: 'b', result: { ok: true } })
    await second.stop()
  })
})

/** A store whose connection can be cut. */
function unreachable(store: Store): { away: boolean; readonly store: Store } {
  const guarded = <Args extends readonly unknown[], T>(call: (...args: Args) => Promise<T>) => {
    return async (...args: Args) => {
      if (state.away) throw new StoreUnavailableError('away')
      return call(...args)
    }
  }
  const state = {
    away: false,
    store: {
      ...store,
      chores: guarded(store.chores),
      takeChore: guarded(store.takeChore),
      renewChore: guarded(store.renewChore),
      finishChore: guarded(store.finishChore),
    },
  }
  return state
}

function createLog() {
  const lines: string[] = []
  const observer = observeLines('info', ({ level, text, fields: { error } }) => {
    lines.push(`${level} ${text}${typeof error === 'object' ? ` (${error.message})` : ''}`)
  })
  return { lines, observer }
}
