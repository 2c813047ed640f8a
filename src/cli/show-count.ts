import type { CliIo } from './io.ts'
import { isLive } from './io.ts'
import { showProgress } from './show-progress.ts'

/** Shows on stderr how far something long has come: a bar on a terminal, and else a line for each tenth of it. */
export function showCount(io: CliIo, label: string, known?: number) {
  const display = showProgress(io, label)
  const begun = io.clock.now()
  let told = 0
  return {
    /** `total` may be an estimate. */
    update(done: number, total = known) {
      const each = isLive(io) ? 1 : Math.max(1, Math.ceil((total ?? 500_000) / 10))
      if (done - told < each && done !== total) return
      told = done
      const description = total === undefined ? String(done) : `${done}/${Math.max(done, total)}`
      display.update({ description, elapsed: io.clock.now() - begun })
    },
    stop: display.stop,
  }
}
