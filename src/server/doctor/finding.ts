import type { Clock } from '../../clock.ts'
import type { Environment } from '../../shape/placeholders.ts'
import type { Config } from '../config.ts'

/** What one look has found. A warning may be meant; what is wrong keeps a broker from starting, or from what it is for. */
export interface Finding {
  readonly state: 'ok' | 'warning' | 'wrong'
  /** What it is about, such as `clock` or `registry team`. */
  readonly about: string
  readonly expected: string
  readonly found: string
  /** Absent where nothing has to be done. */
  readonly remedy?: string
}

/** What checks look at. They change nothing. */
export interface Examined {
  readonly config: Config
  readonly env: Environment
  readonly cwd: string
  readonly clock: Clock
  /** Ends what takes too long. */
  readonly signal: AbortSignal
}

/** One look. Whatever it throws is a finding, too. */
export type Check = (examined: Examined) => Promise<readonly Finding[]>

/** Milliseconds for all of it: whoever waits for an answer sits before a terminal. */
export const longest = 20_000
