import type { PollProgress } from '../client/index.ts'
import { type CliIo, createPaint, isLive, type Paint } from './io.ts'
import { toLine } from './render/printable.ts'

interface ProgressView extends PollProgress {
  /** What is going on, as in `provision postgres`. */
  readonly label: string
}

/** Shows on stderr how an operation goes on; `stop` leaves no trace of a live line. */
export function showProgress(io: CliIo, label: string) {
  return isLive(io) ? createLiveDisplay(io, label) : createLogDisplay(io, label)
}

function createLiveDisplay(io: CliIo, label: string) {
  const paint = createPaint(io)
  const begun = io.clock.now()
  let latest: PollProgress | undefined
  let tick = 0
  let cancel = () => {}
  const draw = () => {
    const view = { ...latest, label, elapsed: io.clock.now() - begun }
    io.stderr.write(`${clearLine}${renderLiveLine(view, tick, io.stderr.columns ?? 80, paint)}`)
    tick += 1
    cancel = io.clock.after(frame, draw)
  }
  draw()
  return {
    update(progress: PollProgress) {
      latest = progress
    },
    stop() {
      cancel()
      io.stderr.write(clearLine)
    },
  }
}

function createLogDisplay(io: CliIo, label: string) {
  let last: string | undefined
  return {
    update(progress: PollProgress) {
      const line = renderLogLine({ ...progress, label })
      if (line !== last) io.stderr.write(`${line}\n`)
      last = line
    },
    stop() {},
  }
}

const frame = 100
const clearLine = '\r\u001b[2K'

/** One line for a terminal of `columns`; `tick` turns the spinner. */
export function renderLiveLine(view: ProgressView, tick: number, columns: number, paint: Paint): string {
  const fraction = findFraction(view.description)
  const head = [
    spinner[tick % spinner.length] ?? '',
    toLine(view.label),
    formatElapsed(view.elapsed),
    ...(fraction === undefined ? [] : [renderBar(fraction)]),
  ].join(' ')
  // The last column stays free: some terminals wrap a full line.
  const room = columns - 1
  if (head.length >= room) return head.slice(0, Math.max(0, room))
  const rest = shorten(describe(view), room - head.length - 2)
  const visible = rest === '' ? '' : `  ${rest}`
  return `${paint('cyan', head)}${view.problem === undefined ? visible : paint('red', visible)}`
}

/** One line for a log; says nothing of the time, so that equal lines are seen to be equal. */
export function renderLogLine(view: ProgressView): string {
  const rest = describe(view)
  return `${toLine(view.label)}: ${rest === '' ? 'in progress' : rest}`
}

export function formatElapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  if (hours > 0) return `${hours}h ${minutes % 60}m`
  return minutes > 0 ? `${minutes}m ${seconds % 60}s` : `${seconds}s`
}

/** How much is done, from 0 to 1, where the description says `40%` or `2/5`. */
export function findFraction(description: string | undefined): number | undefined {
  const percent = description?.match(/(?<![\w.,/])(\d{1,3}(?:\.\d+)?) ?%/)
  if (percent?.[1] !== undefined && Number(percent[1]) <= 100) return Number(percent[1]) / 100
  const parts = description?.match(/(?<![\w./])(\d{1,9}) ?\/ ?(\d{1,9})(?![\w/]|\.\d)/)
  const [done, all] = [Number(parts?.[1]), Number(parts?.[2])]
  return all > 0 && done <= all ? done / all : undefined
}

const spinner = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const barWidth = 20

function renderBar(fraction: number): string {
  const full = Math.round(fraction * barWidth)
  return `[${'█'.repeat(full)}${'░'.repeat(barWidth - full)}] ${Math.floor(fraction * 100)}%`
}

function describe({ description, problem }: ProgressView): string {
  if (problem === undefined) return toLine(description ?? '')
  return `${toLine(problem)}; trying again`
}

function shorten(text: string, room: number): string {
  if (text.length <= room) return text
  return room < 2 ? '' : `${text.slice(0, room - 1)}…`
}
