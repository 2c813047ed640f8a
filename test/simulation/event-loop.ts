import type { Clock } from '../../src/clock.ts'

/** Time as a list of what happens next: it jumps from one event to the following one, and never waits. */
export interface EventLoop extends Clock {
  /** Runs what is due until `time`, or until `isDone` after an event; everything that follows from one ends before the next. */
  run(time: number, isDone?: () => boolean): Promise<void>
}

interface Event {
  readonly at: number
  /** Of events at the same time, the one that was planned first comes first. */
  readonly order: number
  callback: (() => void) | undefined
}

export function createEventLoop(start: number): EventLoop {
  const events: Event[] = []
  let now = start
  let order = 0

  return {
    now: () => now,
    after(ms, callback) {
      order += 1
      const event: Event = { at: now + Math.max(0, Math.ceil(ms)), order, callback }
      push(events, event)
      return () => {
        event.callback = undefined
      }
    },
    async run(time, isDone = () => false) {
      await turn()
      for (let next = events[0]; next !== undefined && next.at <= time; next = events[0]) {
        pop(events)
        if (next.callback === undefined) continue
        now = next.at
        next.callback()
        await turn()
        if (isDone()) return
      }
      now = Math.max(now, time)
    },
  }
}

/** Every promise that can settle without a timer has settled when this resolves. */
function turn(): Promise<void> {
  return new Promise(resolve => {
    setImmediate(resolve)
  })
}

function isBefore(one: Event, other: Event): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order)
}

/** A binary heap: the earliest event stands first. */
function push(events: Event[], event: Event): void {
  let index = events.push(event) - 1
  while (index > 0) {
    const above = (index - 1) >> 1
    const parent = events[above]
    if (parent === undefined || isBefore(parent, event)) break
    events[index] = parent
    index = above
  }
  events[index] = event
}

function pop(events: Event[]): void {
  const last = events.pop()
  if (last === undefined || events.length === 0) return
  let index = 0
  while (true) {
    const left = events[2 * index + 1]
    const right = events[2 * index + 2]
    const isRight = left !== undefined && right !== undefined && isBefore(right, left)
    const child = isRight ? right : left
    if (child === undefined || isBefore(last, child)) break
    events[index] = child
    index = 2 * index + (isRight ? 2 : 1)
  }
  events[index] = last
}
