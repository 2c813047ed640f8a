import { type Duration, parseDuration } from '../shape/duration.ts'

/** What the stores on a server can be told: the settings below `ledger`, by the same names. */
export interface LedgerOptions {
  /** One for each broker: PostgreSQL's schema, or what stands before the names of MongoDB's collections. */
  readonly schema?: string
  /** Connections for statements, for each replica. Those that listen for wake-ups are not counted. */
  readonly poolSize?: number
  /** How long a server is looked for before it counts as gone. */
  readonly connectTimeout?: Duration
  /** How long one statement may take. */
  readonly statementTimeout?: Duration
}

/** The defaults, for the settings as well. */
export const ledgerDefaults = {
  schema: 'purser',
  poolSize: 10,
  connectTimeout: '5s',
  statementTimeout: '10s',
} as const satisfies LedgerOptions

/** With defaults, and durations in milliseconds. */
export function readLedgerOptions(options: LedgerOptions) {
  const { schema, poolSize, connectTimeout, statementTimeout } = ledgerDefaults
  return {
    schema: options.schema ?? schema,
    poolSize: options.poolSize ?? poolSize,
    connectTimeoutMs: parseDuration(options.connectTimeout ?? connectTimeout),
    statementTimeoutMs: parseDuration(options.statementTimeout ?? statementTimeout),
  }
}
