import type { Action } from './protocol/actions.ts'
import type { Sensitive } from './sensitive/sensitive.ts'

/**
 * Everything that a broker tells about itself. Logs, metrics and traces are listeners (`Observer`).
 *
 * Times are milliseconds since 1970, `…Ms` are durations in milliseconds, and `error` is what was thrown. No event holds
 * parameters, state, credentials or a header that may be secret. docs/reference/events.md is checked against this file.
 */
export interface BrokerEvents {
  /** A request came to a broker that cannot start. The next one tries again. */
  'broker.startFailed': { readonly error: Error }
  /** The server accepts requests. */
  'broker.serving': { readonly url: string; readonly store: string; readonly services: number }
  /** The server accepts requests without credentials. */
  'broker.open': { readonly url: string }
  /** The process was asked to stop. It takes requests for `delayMs` more; then running operations have `graceMs` to end. */
  'broker.stopping': { readonly signal: string; readonly delayMs: number; readonly graceMs: number }
  /** Everything has ended; the process exits now. */
  'broker.stopped': Record<never, never>

  /** The process has its name from one that has ended, or is taken for dead; what that one ran goes on. */
  'name.takenOver': { readonly name: string; readonly former: string }
  /** Another process has taken the name, since this one gave no sign of life. This one goes on without a name. */
  'name.lost': { readonly name: string }

  /** Files that sign-in needs have changed, and are in force: of the configuration only `auth`, and what `server.tls` names. */
  'configuration.reloaded': { readonly files: string }
  /** They have changed and cannot be used. What was read before stays in force. */
  'configuration.reloadFailed': { readonly files: string; readonly error: Error }
  /** The keys of an issuer of tokens could not be read. Those that were read before are used for a day. */
  'authentication.keysUnavailable': { readonly issuer: string; readonly error: Error }
  /** The provider of `auth.oidc` did not answer as it should. Whoever was signing in has to try again. */
  'authentication.providerFailed': { readonly issuer: string; readonly error: Error }
  /** A setting is accepted, but is probably not what was meant. */
  'configuration.warning': { readonly message: string }
  /** An operator has changed what this replica logs. */
  'log.levelsChanged': { readonly principal: string; readonly requestId?: string; readonly levels: string }
  /** Something in the catalog is accepted, but some platforms will not like it. */
  'catalog.warning': { readonly message: string }
  /**
   * The ledger has instances of services, or of plans, that this broker does not have (any more). At most 20 are named, those
   * with the most instances; `more` is the number of the others.
   */
  'catalog.incomplete': { readonly missing: readonly MissingOffer[]; readonly more: number }
  /** This replica could not read the catalog from the store. It keeps the one that it has and tries again. */
  'catalog.readFailed': { readonly error: Error }

  /** A request was answered, refused before it reached the application, or its client hung up. */
  'request.ended': {
    /** Absent where the request could not be parsed. */
    readonly method?: string
    /** The pattern of the route, for example `/v2/service_instances/:instance`. Absent where no route fits. */
    readonly route?: string
    /** The path as it was sent, without its query; secret segments are masked. */
    readonly path?: string
    readonly status: number
    /** The size of the answer's body. */
    readonly bytes: number
    readonly startedAt: number
    readonly durationMs: number
    readonly address?: string
    /** Who sent it, once that is known. */
    readonly principal?: string
    readonly platform?: string
    /** `X-Broker-API-Request-Identity`, where the platform sent it. */
    readonly requestId?: string
    /** The operation that it has started or repeats. */
    readonly operationId?: string
    /** The W3C trace context, where the client sent it. */
    readonly traceparent?: string
    /** The client hung up: it never saw the answer. */
    readonly aborted: boolean
    /** The code of the error that it was answered with. */
    readonly error?: string
  }
  /** A request was answered with a 500 or 503 because something broke. `incident` is the number in the answer. */
  'request.failed': {
    readonly error: Error
    readonly status: number
    readonly incident?: string
    readonly requestId?: string
    readonly traceparent?: string
  }
  /** Somebody has signed in to the console. `session` names the session, and is not what its cookie holds. */
  'session.begun': {
    readonly session: string
    readonly principal: string
    readonly platform: string
    readonly address?: string
  }
  /** A session of the console was ended before its time: by its own user (`of`), or by an operator. */
  'session.ended': {
    readonly session: string
    readonly of: string
    readonly principal: string
    readonly requestId?: string
  }
  /** A request was answered with 401, or with 429 where there were too many attempts; or a sign-in on another page failed. */
  'authentication.failed': {
    /** The scheme that refused; absent where no scheme found credentials of its kind. */
    readonly scheme?: string
    readonly reason: string
    readonly method: string
    readonly path: string
    readonly address?: string
    readonly requestId?: string
    readonly traceparent?: string
  }
  /** A request was refused because its sender, or its platform, has all that it may have. */
  'request.limited': {
    /** `rate` for too many requests, else what the platform has a quota of. */
    readonly limit: 'rate' | 'instances' | 'bindings' | 'operations'
    readonly platform: string
    /** Who has sent too many. */
    readonly principal?: string
    readonly requestId?: string
    readonly traceparent?: string
  }
  /** The HTTP server reported an error that belongs to no request. */
  'server.failed': { readonly error: Error }

  /** An operation was written to the ledger. Its request is answered only after this. */
  'operation.accepted': OperationFields & {
    readonly deadlineAt: number
    /** The request waits for the operation to end. */
    readonly synchronous: boolean
  }
  /** An attempt begins: a worker holds the lease. */
  'operation.started': OperationFields & {
    readonly attempt: number
    readonly startedAt: number
    /** How long it was due before it started. */
    readonly queueMs: number
    /** The worker before it lost its lease: it crashed or was cut off. */
    readonly takenOver: boolean
  }
  /** An attempt ended without a result. The operation is due again at `until`. */
  'operation.parked': AttemptFields & {
    readonly until: number
    readonly reason: ParkReason
    readonly description?: string
  }
  /**
   * An attempt was cut short: its lease was lost, or the process stops; or it was a sweep, and the time of the creation that
   * waits for it is up (`deadline`). Another worker goes on.
   */
  'operation.handedBack': AttemptFields & { readonly reason: 'lost' | 'stopping' | 'deadline' }
  /** The ledger could not be written, so the attempt has no end. Its lease runs out and another worker goes on. */
  'operation.interrupted': AttemptFields & { readonly error: Error }
  /** The operation has succeeded. */
  'operation.succeeded': AttemptFields & { readonly totalMs: number }
  /** The operation has failed for good. `reason` is what the platform is told. */
  'operation.failed': AttemptFields & { readonly totalMs: number; readonly reason: string; readonly error?: Error }
  /**
   * The operation has used up its retries, and its service holds it: an operator decides until `until`, when it fails with
   * `reason`, which is what the platform is told then.
   */
  'operation.held': AttemptFields & { readonly until: number; readonly reason: string; readonly error?: Error }
  /** Another request took the operation's place before it ended. */
  'operation.superseded': OperationFields & { readonly supersededBy: string }
  /** Workers keep crashing while they run this operation. It is parked for a long time. */
  'operation.poisonous': OperationFields & { readonly attempt: number; readonly losses: number }
  /** No service of this broker can do the operation. It waits for a broker that can. */
  'operation.unknownService': OperationFields & { readonly attempt: number }
  /** A deletion of something unknown was answered as done, because the settings say so. */
  'deletion.forced': {
    readonly instanceId: string
    readonly bindingId?: string
    readonly requestId?: string
    readonly traceparent?: string
  }

  /** A binding should be rotated from now on (`renew_before`). Told once. */
  'binding.expiresSoon': ExpiringFields
  /** A binding has expired. Told once. Where its service wants it, `operationId` is the unbind that has begun. */
  'binding.expired': ExpiringFields & { readonly operationId?: string }

  /** An operator has changed something by hand. The history of the instance has the same. */
  'operator.acted': {
    /** `move`, `abandon`, … */
    readonly verb: string
    readonly principal: string
    readonly reason?: string
    readonly instanceId: string
    readonly bindingId?: string
    readonly operationId?: string
    readonly requestId?: string
    readonly traceparent?: string
  }

  /** An operator has closed a gate, or opened it again: what platforms ask for anew is refused meanwhile. */
  'gate.changed': {
    readonly action: string
    readonly closed: boolean
    readonly principal: string
    readonly serviceId?: string
    readonly planId?: string
    readonly reason?: string
    readonly requestId?: string
  }

  /** An action failed outside its steps, and is tried again after `delayMs`. */
  'action.failed': AttemptFields & { readonly failures: number; readonly delayMs: number; readonly error: Error }
  /** A call of a step has succeeded. */
  'step.succeeded': StepFields
  /** A call of a step failed. It is tried again after `delayMs`; without `delayMs` the step has failed for good. */
  'step.failed': StepFields & { readonly delayMs?: number; readonly error: Error }
  /** A hook that is told about failures failed itself. */
  'hook.failed': OperationFields & { readonly hook: string; readonly error: Error }
  /**
   * An error in the code of an author that nobody handles: a `rejection` of a promise that was not awaited, which fails the
   * attempt if that is still running, or an `exception` in a callback such as a timer, after which Node.js ends the process.
   */
  'author.unhandled': OperationFields & {
    readonly kind: 'rejection' | 'exception'
    readonly attempt: number
    readonly step?: string
    readonly error: Error
  }
  /** A promise was rejected, nobody handles that, and it is of no operation that is known. Node.js ends the process. */
  'process.unhandled': { readonly error: Error }
  /** An author wrote to the log. */
  'author.log': OperationFields & {
    readonly level: 'info' | 'warn' | 'error'
    readonly message: string
    readonly fields?: LogFields
    readonly attempt: number
    readonly step?: string
  }

  /** A run of a chore begins in this replica. */
  'chore.started': { readonly chore: string }
  /** A run of a chore has ended. `message` says what it did; absent where there was nothing to do. */
  'chore.succeeded': { readonly chore: string; readonly durationMs: number; readonly message?: string }
  /** A run of a chore has failed. Its next period tries again. */
  'chore.failed': { readonly chore: string; readonly durationMs: number; readonly error: Error }
  /** A run of a chore was cut short: its lease was lost, or the process stops. It is taken over when its lease ends. */
  'chore.interrupted': { readonly chore: string; readonly durationMs: number; readonly error: Error }
  /** A run of a chore took longer than its lease, and another replica has taken it over. */
  'chore.lost': { readonly chore: string }
  /** A run of a chore has ended, but the store did not take the result. It runs once more. */
  'chore.unrecorded': { readonly chore: string; readonly error: Error }
  /** A chore could not be started. */
  'chore.startFailed': { readonly chore: string; readonly error: Error }

  /** The store has answered a call, or has thrown. `refused`: a write of somebody who has lost the lease. */
  'store.called': {
    readonly operation: string
    readonly durationMs: number
    readonly ok: boolean
    readonly refused: boolean
  }
  /** The store does not answer. No work begins until it does. */
  'store.unavailable': { readonly store: string; readonly error: Error }
  /** The store answers again. */
  'store.available': { readonly store: string; readonly outageMs: number }
  /** The schema was brought up to date. */
  'store.migrated': { readonly store: string; readonly migrations: number }
  /**
   * The ledger lacks what this replica knows was written: a standby that was behind has taken over, or a backup was put
   * back. `lost` of its last writes are gone. See "What a standby that is behind loses" in docs/guides/replicas.md.
   */
  'store.wentBack': { readonly store: string; readonly lost: number }
  /** Wake-ups from other replicas come late until the connection is back. Polling goes on. */
  'store.wakeUpsLost': { readonly store: string; readonly error: Error }

  /** A registry has stopped answering. */
  'registry.unavailable': { readonly registry: string; readonly problem?: string }
  /** A registry answers again. */
  'registry.available': { readonly registry: string }
  /** A registry offers something that cannot be used. */
  'registry.problem': { readonly registry: string; readonly problem: string }
  /** A registry offers something that is offered here too, and has a flaw. */
  'registry.warning': { readonly registry: string; readonly problem: string }
  /** A registry has lost an image that instances are pinned to. Their actions run only where the image was pulled before. */
  'image.vanished': {
    readonly registry: string
    readonly image: string
    readonly service: string
    readonly instances: number
  }
  /** With `bundles.keepPinned`: an image that instances are pinned to could not be kept on this machine (without `image`: none could). It is tried again. */
  'image.keepFailed': { readonly image?: string; readonly error: Error }
  /** A service left the catalog, since its registry has it no more, failed too often, was silent too long, or left the configuration. */
  'service.retired': { readonly service: string; readonly registry: string; readonly reason: string }
  /** What the backend of a service holds could not be listed, so its orphans are not known. The other services were compared. */
  'service.notListed': { readonly service: string; readonly error: Error }
  /** Revisions that nobody needs could not be deleted. The next purge tries again. */
  'revision.deletionFailed': { readonly error: Error }

  /** The operator's secrets for a bundle cannot be read. */
  'bundle.secretsFailed': { readonly bundle: string; readonly error: Error }
  /** With `bundles.kubernetes.copies`: what is kept of an instance or a binding could not be copied. The copy is older than the ledger. */
  'bundle.copyOutdated': { readonly bundle: string; readonly instanceId: string; readonly error: Error }
  /** A bundle's folder cannot be copied. Its instances run whatever the folder holds at that time. */
  'bundle.copyFailed': { readonly folder: string; readonly error: Error }
  /** A bundle's folder was changed and there is no copy of what it was. It runs as it is now. */
  'bundle.changed': { readonly bundle: string; readonly folder: string }

  /** The sandboxes of this broker that a runtime has: those that are needed, and leftovers, which are removed. */
  'sandbox.listed': { readonly runtime: string; readonly needed: number; readonly unneeded: number }
  /** A sandbox that nobody needs was removed. */
  'sandbox.removed': { readonly sandbox: string; readonly runtime: string; readonly operationId?: string }
  /** A sandbox could not be removed. It is tried again later. */
  'sandbox.removalFailed': {
    readonly sandbox: string
    readonly runtime: string
    readonly operationId?: string
    readonly error: Error
  }
  /** It is not known whether a sandbox is still running: its runtime does not answer. */
  'sandbox.unreachable': {
    readonly sandbox: string
    readonly host: string
    readonly operationId: string
    readonly reason: string
  }
  /** A runtime does not list its sandboxes, so that those nobody needs stay. */
  'sandbox.listingFailed': { readonly runtime: string; readonly error: Error }
}

export type EventType = keyof BrokerEvents

/** Which operation an event is about. */
export interface OperationFields {
  readonly operationId: string
  readonly action: Action
  readonly instanceId: string
  readonly bindingId?: string
  readonly serviceId: string
  readonly planId: string
  readonly platform: string
  /** That of the request which asked for the operation, where the platform sent one. */
  readonly requestId?: string
  /** Its W3C trace context, where there is one. */
  readonly traceparent?: string
  /** Of the latest lease; absent before the first. */
  readonly fence?: number
  readonly acceptedAt: number
}

/** Which binding expires, and when. */
export interface ExpiringFields {
  readonly instanceId: string
  readonly bindingId: string
  readonly serviceId: string
  readonly planId: string
  readonly platform: string
  readonly expiresAt: number
}

/** A service, or a plan of one that is there, and how many instances need it. */
export interface MissingOffer {
  readonly serviceId: string
  readonly planId?: string
  readonly instances: number
}

/** Which attempt of an operation an event is about, and how long the attempt took so far. */
export interface AttemptFields extends OperationFields {
  readonly attempt: number
  readonly startedAt: number
  readonly durationMs: number
}

/** Which call of a step an event is about. `attempt` counts the operation's attempts, `calls` those of the step. */
export interface StepFields extends OperationFields {
  readonly attempt: number
  readonly step: string
  readonly calls: number
  readonly startedAt: number
  readonly durationMs: number
}

/** Why an operation is parked: its action waits, failed, met a store that did not answer, or cannot run here; or it is held. */
export type ParkReason = 'wait' | 'retry' | 'store' | 'unknownService' | 'poisonous' | 'held'

/** What an author adds to a line of the log. Names that sound like a secret lose their value. */
export type LogFields = Readonly<Record<string, string | number | boolean | Error | Sensitive<unknown> | undefined>>
