/** What the driver's errors mean to those who use the store. */
import { StoreOpenError, StoreUnavailableError } from '../../store.ts'
import { codeOf, hasLabel, isCode, isDriverError, isSocketError, serverCodes } from './driver.ts'

/** What passes is for operators; the rest is ours, or the decision's, and stays as it is. */
export function toStoreError(error: unknown, name: string): unknown {
  if (!isDriverError(error)) return error
  if (isCode(error, serverCodes.duplicateKey)) {
    return new Error('the ledger refused a change: another operation of the same resource is active', { cause: error })
  }
  const reason = reasonOf(error)
  return reason === undefined ? error : new StoreUnavailableError(`${name} cannot be used: ${reason}`, { cause: error })
}

/** The same while the store is being opened: there the operator is listening. */
export function toOpenError(error: unknown, name: string): unknown {
  if (isCode(error, serverCodes.unauthorized, serverCodes.authenticationFailed)) {
    return new StoreOpenError(
      'refused',
      `${name} refuses this user: check the user, the password and authSource in the URL, and that the user has the role readWrite on the database`,
      error,
    )
  }
  if (isDriverError(error) && badUrl.has(error.name)) {
    // The driver's own words may repeat a part of the URL.
    return new StoreOpenError('bad-url', `the URL for ${name} cannot be read: check its options and its encoding`)
  }
  return toStoreError(error, name)
}

function reasonOf(error: Error): string | undefined {
  const known = reasons[codeOf(error) ?? -1]
  if (known !== undefined) return known
  if (hasLabel(error, 'UnknownTransactionCommitResult')) return uncertain
  if (hasLabel(error, 'TransientTransactionError')) return unreachable
  return unavailable.has(error.name) || isSocketError(error) ? unreachable : undefined
}

const unreachable = 'no primary of the replica set answers. Look at the servers and the network'
const uncertain = 'it did not say whether it wrote. What was written shows when it answers again'
const busy = 'others change the same rows, or one that did was cut off. It passes within about a minute'
const slow = 'it took too long. Look at the load of the servers'
const noMajority = 'a majority of the replica set does not confirm writes. Look at its other members'
const refused = 'it refuses this user. Look at the user and its roles'

/** By the code of the server's error. */
const reasons: Readonly<Record<number, string>> = {
  6: unreachable, // HostUnreachable
  7: unreachable, // HostNotFound
  89: unreachable, // NetworkTimeout
  91: unreachable, // ShutdownInProgress
  189: unreachable, // PrimarySteppedDown
  251: unreachable, // NoSuchTransaction
  10107: unreachable, // NotWritablePrimary
  11600: unreachable, // InterruptedAtShutdown
  11602: unreachable, // InterruptedDueToReplStateChange
  13435: unreachable, // NotPrimaryNoSecondaryOk
  13436: unreachable, // NotPrimaryOrSecondary
  13: refused, // Unauthorized
  18: refused, // AuthenticationFailed
  24: busy, // LockTimeout
  112: busy, // WriteConflict
  50: slow, // MaxTimeMSExpired
  262: slow, // ExceededTimeLimit
  11601: slow, // Interrupted
  64: noMajority, // WriteConcernTimeout
  79: noMajority, // UnknownReplWriteConcern
  100: noMajority, // UnsatisfiableWriteConcern
  134: noMajority, // ReadConcernMajorityNotAvailableYet
  14031: 'its disk is full. Nothing that was accepted is lost; make room, and it works again', // OutOfDiskSpace
}

const badUrl = new Set(['MongoParseError', 'MongoInvalidArgumentError', 'MongoMissingCredentialsError'])

/** Errors that don't come from the server, for want of one. */
const unavailable = new Set([
  'MongoNetworkError',
  'MongoNetworkTimeoutError',
  'MongoServerSelectionError',
  'MongoPoolClearedError',
  'MongoPoolClosedError',
  'PoolClearedOnNetworkError',
  'MongoStalePrimaryError',
  'MongoServerClosedError',
  'MongoWaitQueueTimeoutError',
  'MongoWriteConcernError',
  'MongoNotConnectedError',
  'MongoTopologyClosedError',
  'MongoClientClosedError',
  'MongoExpiredSessionError',
])
