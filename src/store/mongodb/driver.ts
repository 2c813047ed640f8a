/** The MongoDB driver is an optional peer: loaded where it is used, and only then. */
import { StoreOpenError } from '../../store.ts'
import { loadPackage } from '../load-package.ts'

export type Driver = typeof import('mongodb')

export async function loadDriver(): Promise<Driver> {
  const driver = await loadPackage<Driver>('mongodb')
  if (driver !== undefined) return driver
  throw new StoreOpenError('no-driver', 'the MongoDB store needs the package mongodb: run "npm install mongodb"')
}

export function isDriverError(error: unknown): error is Error {
  if (!(error instanceof Error) || error instanceof StoreOpenError) return false
  return error.name.startsWith('Mongo') || error.name === 'PoolClearedOnNetworkError' || isSocketError(error)
}

/** The driver lets some errors of its sockets through as they are, without its own words and labels. */
export function isSocketError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && /^(E[A-Z]+|ERR_(STREAM|SOCKET)_[A-Z_]+)$/.test(code)
}

/** What the driver says about an error: whether the transaction may be tried again, whether its commit is in doubt. */
export function hasLabel(
  error: unknown,
  label: 'TransientTransactionError' | 'UnknownTransactionCommitResult',
): boolean {
  if (!isDriverError(error)) return false
  const { errorLabels } = error as { errorLabels?: readonly string[] }
  return errorLabels?.includes(label) === true
}

export function codeOf(error: unknown): number | undefined {
  if (!isDriverError(error)) return undefined
  const { code } = error as { code?: unknown }
  return typeof code === 'number' ? code : undefined
}

export function isCode(error: unknown, ...codes: readonly number[]): boolean {
  const code = codeOf(error)
  return code !== undefined && codes.includes(code)
}

/** Those that we act on; failures.ts has the words for all of them. */
export const serverCodes = {
  unauthorized: 13,
  authenticationFailed: 18,
  indexNotFound: 27,
  namespaceExists: 48,
  maxTimeExpired: 50,
  duplicateKey: 11000,
} as const
