import type { PollProgress } from '../client/index.ts'
import { type CliIo, createPaint, isLive } from './io.ts'
import { renderLiveLine, renderLogLine } from './render/progress-lines.ts'

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
