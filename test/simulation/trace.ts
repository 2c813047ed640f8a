import { createHash } from 'node:crypto'
import type { Clock } from '../../src/clock.ts'

/** What happened in a world, line by line. Two runs of one seed have the same lines. */
export interface Trace {
  add(line: string): void
  /** A name for an id that was drawn by chance: the same in every run. */
  name(id: string): string
  hash(): string
  lines(): readonly string[]
}

export function createTrace(clock: Clock): Trace {
  const start = clock.now()
  const names = new Map<string, string>()
  const lines: string[] = []
  return {
    add(line) {
      lines.push(`${((clock.now() - start) / 1000).toFixed(3).padStart(9)} ${line}`)
    },
    name(id) {
      const name = names.get(id) ?? `op${names.size + 1}`
      names.set(id, name)
      return name
    },
    hash: () => createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16),
    lines: () => lines,
  }
}
