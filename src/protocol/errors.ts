import type { JsonObject } from './json.ts'

/**
 * The catalogue of every error a request can end with: its stable code and its HTTP status. The code is the `error` word
 * on the wire; `AsyncRequired`, `ConcurrencyError`, `RequiresApp` and `MaintenanceInfoConflict` are reserved by the OSB
 * API ("Service Broker Errors"). Codes are never reused for another meaning.
 */
export const errorStatus = {
  MalformedRequest: 400,
  InvalidParameters: 400,
  InvalidState: 400,
  UnknownService: 400,
  UnknownPlan: 400,
  RetiredPlan: 400,
  NotBindable: 400,
  NotRotatable: 400,
  UnknownPredecessor: 400,
  MissingApiVersion: 412,
  Unauthorized: 401,
  Forbidden: 403,
  CrossSite: 403,
  NotFound: 404,
  InstanceNotFound: 404,
  BindingNotFound: 404,
  UnknownBatch: 404,
  UnknownChore: 404,
  UnknownGate: 404,
  UnknownOperation: 404,
  UnknownRevision: 404,
  UnknownSession: 404,
  MethodNotAllowed: 405,
  RequestTimeout: 408,
  InstanceConflict: 409,
  BindingConflict: 409,
  ChoreRunning: 409,
  VerbRefused: 409,
  InstanceGone: 410,
  BindingGone: 410,
  StaleVersion: 412,
  UnsupportedApiVersion: 412,
  PayloadTooLarge: 413,
  UnknownHost: 421,
  AsyncRequired: 422,
  ConcurrencyError: 422,
  KeyReused: 422,
  RequiresApp: 422,
  MaintenanceInfoConflict: 422,
  PlanChangeNotSupported: 422,
  QuotaExceeded: 422,
  TooManyItems: 422,
  UpdateNotSupported: 422,
  InstanceNotUsable: 422,
  BindingsExist: 422,
  ActionRefused: 422,
  TooManyLogins: 429,
  TooManyRequests: 429,
  HeadersTooLarge: 431,
  ActionFailed: 500,
  InternalError: 500,
  BackendNotListed: 502,
  CannotStart: 503,
  CatalogUnknown: 503,
  Maintenance: 503,
  NoSnapshot: 503,
  Overloaded: 503,
  QueueTooLong: 503,
  ServiceLeft: 503,
  ShuttingDown: 503,
  SignInUnavailable: 503,
  StoreUnavailable: 503,
  StillRunning: 504,
} as const

export type ErrorCode = keyof typeof errorStatus

export interface BrokerErrorDetail {
  /** Overrides the status of the table; only where the table says that a setting decides (MissingApiVersion). */
  readonly status?: number
  /** Failed update or deprovision only; absent means usable. */
  readonly instanceUsable?: boolean
  /** Failed update only; absent means repeatable. */
  readonly updateRepeatable?: boolean
  /** Whole seconds, sent as Retry-After. */
  readonly retryAfter?: number
  /** The methods that a path does take, sent as Allow. */
  readonly allow?: readonly string[]
  readonly cause?: unknown
}

/** A request's refusal or failure, in words meant for the platform's user. Its message never holds a secret. */
export class BrokerError extends Error {
  override readonly name = 'BrokerError'
  readonly code: ErrorCode
  readonly status: number
  readonly instanceUsable?: boolean
  readonly updateRepeatable?: boolean
  readonly retryAfter?: number
  readonly allow?: readonly string[]

  constructor(code: ErrorCode, description: string, { cause, ...detail }: BrokerErrorDetail = {}) {
    super(description, cause === undefined ? undefined : { cause })
    Object.assign(this, detail)
    this.code = code
    this.status = detail.status ?? errorStatus[code]
  }
}

/** The error body of the OSB API. Absent flags are left out: ERR-05 and ERR-06 forbid them on other failures. */
export function toErrorBody(error: BrokerError): JsonObject {
  return {
    error: error.code,
    description: error.message,
    instance_usable: error.instanceUsable,
    update_repeatable: error.updateRepeatable,
  }
}
