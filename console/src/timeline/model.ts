/** What a timeline shows, made from an operation and its steps. Pure: the page only draws it. Times are milliseconds. */
export interface TimelineTry {
  readonly started_at: string
  readonly ended_at: string
  readonly error?: string
  readonly worker?: string
  readonly fence?: number
  readonly taken_over?: boolean
}

export interface TimelineStep {
  readonly name: string
  readonly state: string
  readonly attempts: number
  readonly started_at: string
  readonly error?: string
  readonly tries?: readonly TimelineTry[]
}

export interface TimelineOperation {
  readonly state: string
  readonly accepted_at: string
  readonly finished_at?: string
  readonly lease_owner?: string
  readonly fence?: number
  readonly steps?: readonly TimelineStep[]
}

export type BarKind = 'done' | 'failed' | 'running' | 'wait'

export interface Bar {
  readonly kind: BarKind
  readonly from: number
  readonly to: number
  /** How many equal attempts it stands for. */
  readonly count: number
  readonly error?: string | undefined
}

export interface Row {
  readonly name: string
  readonly bars: readonly Bar[]
  readonly failed: boolean
  /** Attempts so far, those that are not told apart any more included. */
  readonly attempts: number
  /** What its attempts took together. */
  readonly took: number
}

/** A lease ran out, and another worker went on. */
export interface Takeover {
  readonly at: number
  readonly from: string | undefined
  readonly to: string | undefined
  readonly fence: number | undefined
}

export interface Attempt {
  readonly step: string
  readonly number: number
  readonly from: number
  readonly to: number
  readonly error: string | undefined
  readonly worker: string | undefined
  readonly fence: number | undefined
  readonly takenOver: boolean
}

export interface Timeline {
  readonly start: number
  readonly end: number
  readonly rows: readonly Row[]
  readonly takeovers: readonly Takeover[]
  readonly attempts: readonly Attempt[]
}

/** Shorter than this, nobody waited. */
const shortest = 40
/** From so many equal failures in a row on they are one bar. */
const foldFrom = 3

export function toTimeline(operation: TimelineOperation, now: number): Timeline {
  const { steps = [], state } = operation
  const start = Date.parse(operation.accepted_at)
  const isOpen = state === 'queued' || state === 'running'
  const attempts = toAttempts(steps, start)
  const lastEnd = Math.max(start, ...attempts.map(({ to }) => to))
  const end = Math.max(lastEnd, operation.finished_at === undefined ? now : Date.parse(operation.finished_at))
  const bars = new Map<string, Bar[]>(steps.map(({ name }) => [name, []]))
  let before = start
  for (const { step, from, to, error } of attempts) {
    const own = bars.get(step) ?? []
    if (from - before > shortest) own.push({ kind: 'wait', from: before, to: from, count: 1 })
    own.push({ kind: error === undefined ? 'done' : 'failed', from, to, count: 1, error })
    before = Math.max(before, to)
  }
  if (isOpen) {
    const open = steps.find(step => step.state === 'failed')?.name ?? (state === 'running' ? 'running now' : 'waiting')
    const own = bars.get(open) ?? []
    own.push({ kind: state === 'running' ? 'running' : 'wait', from: before, to: Math.max(end, before), count: 1 })
    bars.set(open, own)
  }
  const rows = [...bars].map(([name, own]): Row => {
    const step = steps.find(each => each.name === name)
    const hidden = Math.max(0, (step?.attempts ?? 0) - (step?.tries?.length ?? 0))
    const worked = own.filter(({ kind }) => kind !== 'wait')
    return {
      name,
      bars: fold(hidden > 0 ? withHidden(own) : own, hidden),
      failed: own.some(({ kind }) => kind === 'failed'),
      attempts: Math.max(step?.attempts ?? 0, worked.length),
      took: worked.reduce((sum, { from, to }) => sum + to - from, 0),
    }
  })
  return { start, end, rows, takeovers: toTakeovers(attempts), attempts }
}

/** Those of the operation that this one repeats have come along with their steps, and are not its own. */
function toAttempts(steps: readonly TimelineStep[], start: number): readonly Attempt[] {
  return steps
    .flatMap(({ name, attempts, tries = [] }) =>
      tries.map((each, at): Attempt => {
        const { error, worker, fence, taken_over: takenOver = false } = each
        const number = attempts - tries.length + at + 1
        const from = Date.parse(each.started_at)
        return { step: name, number, from, to: Date.parse(each.ended_at), error, worker, fence, takenOver }
      }),
    )
    .filter(({ to }) => to >= start)
    .sort((one, other) => one.from - other.from)
}

function toTakeovers(attempts: readonly Attempt[]): readonly Takeover[] {
  const found: Takeover[] = []
  attempts.forEach(({ takenOver, fence, from, worker }, at) => {
    if (!takenOver || found.some(known => known.fence === fence)) return
    // A worker that was cut off before it ended any call has left no name.
    const former = attempts[at - 1]?.worker
    found.push({ at: from, from: former === worker ? undefined : former, to: worker, fence })
  })
  return found
}

/** What looks like a wait before the first attempt that is known was full of those that are not told apart any more. */
function withHidden([wait, first, ...rest]: readonly Bar[]): readonly Bar[] {
  if (wait === undefined || first === undefined) return wait === undefined ? [] : [wait]
  return wait.kind === 'wait' ? [{ ...first, from: wait.from }, ...rest] : [wait, first, ...rest]
}

/** Equal failures in a row, and the waits between them, become one bar. `hidden` attempts were before the first of them. */
function fold(bars: readonly Bar[], hidden: number): readonly Bar[] {
  const folded: Bar[] = []
  let left = hidden
  for (let at = 0; at < bars.length; at += 1) {
    const [first, ...rest] = bars.slice(at)
    if (first === undefined) break
    const otherAt = rest.findIndex(({ kind, error }) => kind !== 'wait' && (kind !== 'failed' || error !== first.error))
    const run = [first, ...rest.slice(0, otherAt < 0 ? rest.length : otherAt)]
    const last = run.findLastIndex(({ kind }) => kind === 'failed')
    const count = run.filter(({ kind }) => kind === 'failed').length + left
    const isFolded = first.kind === 'failed' && count >= foldFrom
    folded.push(isFolded ? { ...first, to: run[last]?.to ?? first.to, count } : first)
    if (isFolded) at += last
    if (first.kind === 'failed') left = 0
  }
  return folded
}

export interface Gap {
  readonly from: number
  readonly to: number
}

export interface Scale {
  /** From 0 to 1. */
  at(time: number): number
  /** Where nothing happened for so long that it is drawn shorter. */
  readonly gaps: readonly Gap[]
}

/** Time is drawn as it passed, but for long waits: they would leave no room for what happened. */
export function toScale({ start, end, rows }: Pick<Timeline, 'start' | 'end' | 'rows'>): Scale {
  const busy = rows
    .flatMap(({ bars }) => bars)
    .filter(({ kind, count }) => kind !== 'wait' && count === 1)
    .sort((one, other) => one.from - other.from)
  const edges = [...new Set([start, end, ...busy.flatMap(({ from, to }) => [from, to])])]
    .filter(time => time >= start && time <= end)
    .sort((one, other) => one - other)
  const pieces = edges.slice(1).map((to, at) => {
    const from = edges[at] ?? to
    return { from, to, isBusy: busy.some(bar => bar.from < to && bar.to > from) }
  })
  const worked = pieces.reduce((sum, { from, to, isBusy }) => sum + (isBusy ? to - from : 0), 0)
  const cap = Math.max(worked / 2, 2_000)
  let total = 0
  const drawn = pieces.map(piece => {
    const length = piece.to - piece.from
    const isGap = !piece.isBusy && length > 2 * cap
    const width = isGap ? cap : length
    total += width
    return { ...piece, isGap, width, before: total - width }
  })
  return {
    gaps: drawn.filter(({ isGap }) => isGap),
    at(time) {
      if (total === 0) return 0
      const piece = drawn.find(({ to }) => time <= to) ?? drawn.at(-1)
      if (piece === undefined) return 0
      const part = piece.to === piece.from ? 0 : (time - piece.from) / (piece.to - piece.from)
      return Math.min(1, Math.max(0, (piece.before + part * piece.width) / total))
    },
  }
}
