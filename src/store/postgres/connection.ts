import { StoreOpenError } from '../../store.ts'
import type { ConnectionConfig } from './driver.ts'
import { types } from './driver.ts'

export interface Address {
  /** `postgres://host:port/database`, without user, password and options. */
  readonly name: string
  readonly url: string
  /** Server settings that the URL asks for. */
  readonly options: string
}

export function parseAddress(url: string): Address {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !/^postgres(ql)?:$/.test(parsed.protocol))
    // Nothing of the text is shown: whatever it is, a password may stand in it.
    throw new StoreOpenError('bad-url', 'the URL of the PostgreSQL store must read postgres://user@host:port/database')
  const options = parsed.searchParams.get('options') ?? ''
  const host = parsed.host || (parsed.searchParams.get('host') ?? 'localhost')
  // The driver lets the URL win over what it is told besides; the options go together, ours last.
  parsed.searchParams.delete('options')
  return { name: `postgres://${host}${parsed.pathname}`, url: parsed.href, options }
}

export interface Session {
  readonly connectTimeoutMs: number
  /** The server ends a statement that takes longer; 0: none does. */
  readonly statementTimeoutMs: number
  /** Whether commits wait for the disk; undefined leaves the server's setting. */
  readonly synchronousCommit?: 'on' | 'off'
}

export function connectionConfig(address: Address, session: Session): ConnectionConfig {
  return {
    connectionString: address.url,
    application_name: 'purser',
    options: [address.options, ...settings(session)].join(' ').trim(),
    connectionTimeoutMillis: session.connectTimeoutMs,
    keepAlive: true,
    types,
  }
}

/**
 * Sent with the first message of a connection, so that they cost no round trip.
 * - Each statement of a function must see what was committed while the one before it waited for a lock: read committed.
 * - Every statement finds its few rows by an index, in its order. With the other ways off that stays so for a plan that was
 *   made when the table was empty, and for a queue, whose statistics are always old. Compiling such statements takes
 *   longer than running them.
 */
function settings({ statementTimeoutMs, synchronousCommit }: Session): string[] {
  return [
    '-c default_transaction_isolation=read\\ committed',
    '-c enable_seqscan=off',
    '-c enable_bitmapscan=off',
    '-c jit=off',
    `-c statement_timeout=${statementTimeoutMs}`,
    synchronousCommit === undefined ? '' : `-c synchronous_commit=${synchronousCommit}`,
  ]
}
