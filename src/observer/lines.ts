import type { BrokerEvents, EventType } from '../events.ts'

export type LogLevel = 'info' | 'warn' | 'error'

/** How one type of event is logged. */
export interface LineOf<Event> {
  /** Absent, or a function that answers undefined: the event is for metrics and traces, and gets no line. */
  readonly level?: LogLevel | ((event: Event) => LogLevel | undefined)
  readonly text: string | ((event: Event) => string)
  /** The fields that are shown, in this order. */
  readonly fields: readonly (keyof Event & string)[]
}

const operation = ['operationId', 'action', 'instanceId', 'bindingId', 'requestId'] as const
const attempt = [...operation, 'attempt'] as const
const step = [...attempt, 'step', 'calls'] as const

/** The whole log: level, text and fields of every event. */
export const lines: { readonly [Type in EventType]: LineOf<BrokerEvents[Type]> } = {
  'broker.startFailed': { level: 'error', text: 'the broker cannot start', fields: ['error'] },
  'broker.serving': { level: 'info', text: 'serving', fields: ['url', 'store', 'services'] },
  'broker.open': {
    level: 'warn',
    text: 'no credentials are configured: everybody on this machine may use the broker',
    fields: [],
  },
  'broker.stopping': { level: 'info', text: 'stopping', fields: ['signal', 'graceMs'] },
  'broker.stopped': { level: 'info', text: 'stopped', fields: [] },

  'configuration.warning': { level: 'warn', text: ({ message }) => `configuration: ${message}`, fields: [] },
  'catalog.warning': { level: 'warn', text: ({ message }) => `catalog: ${message}`, fields: [] },
  'catalog.readFailed': { level: 'warn', text: 'could not read the catalog: trying again', fields: ['error'] },

  'request.ended': {
    level: ({ status, route }) => {
      if (status >= 500) return 'warn'
      // Health checks come every few seconds.
      return status === 200 && (route === '/healthz' || route === '/readyz') ? undefined : 'info'
    },
    text: ({ method = '-', path = '-', status, aborted }) => `${method} ${path} ${status}${aborted ? ' aborted' : ''}`,
    fields: ['durationMs', 'bytes', 'address', 'principal', 'platform', 'requestId', 'operationId'],
  },
  'request.failed': {
    level: 'error',
    text: ({ status }) => (status === 503 ? 'request failed: the store cannot be used' : 'request failed'),
    fields: ['incident', 'requestId', 'error'],
  },
  'authentication.failed': {
    // Without any credentials: the line of the request says enough.
    level: ({ scheme }) => (scheme === undefined ? undefined : 'warn'),
    text: 'authentication failed',
    fields: ['scheme', 'reason', 'address', 'requestId'],
  },
  'server.failed': { level: 'error', text: 'the HTTP server reported an error', fields: ['error'] },

  'operation.accepted': { text: 'operation accepted', fields: operation },
  'operation.started': { text: 'operation started', fields: attempt },
  'operation.parked': { text: 'operation parked', fields: attempt },
  'operation.handedBack': { text: 'operation handed back', fields: attempt },
  'operation.interrupted': { level: 'error', text: 'operation interrupted', fields: [...attempt, 'error'] },
  'operation.succeeded': { level: 'info', text: 'operation succeeded', fields: [...attempt, 'totalMs'] },
  'operation.failed': { level: 'warn', text: 'operation failed', fields: [...attempt, 'totalMs', 'reason', 'error'] },
  'operation.superseded': { level: 'info', text: 'operation superseded', fields: [...operation, 'supersededBy'] },
  'operation.poisonous': {
    level: 'error',
    text: 'operation keeps killing its workers: put aside for 10 minutes',
    fields: [...attempt, 'losses'],
  },
  'operation.unknownService': {
    level: 'error',
    text: 'no service of this broker can do this operation',
    fields: [...attempt, 'serviceId'],
  },
  'deletion.forced': {
    level: 'warn',
    text: ({ bindingId }) =>
      `unknown ${bindingId === undefined ? 'instance' : 'binding'} counted as deleted: forceDeleteUnknown is on`,
    fields: ['instanceId', 'bindingId', 'requestId'],
  },

  'action.failed': {
    level: 'warn',
    text: 'action failed, trying again',
    fields: [...attempt, 'failures', 'delayMs', 'error'],
  },
  'step.succeeded': { text: 'step succeeded', fields: step },
  'step.failed': {
    level: 'warn',
    text: ({ delayMs }) => (delayMs === undefined ? 'step failed for good' : 'step failed, trying again'),
    fields: [...step, 'delayMs', 'error'],
  },
  'hook.failed': { level: 'error', text: 'an error hook failed', fields: [...operation, 'hook', 'error'] },
  'author.unhandled': {
    level: 'error',
    text: ({ kind }) =>
      kind === 'rejection'
        ? 'a promise that was not awaited was rejected'
        : 'an error in a callback of an action ends the process',
    fields: [...attempt, 'step', 'error'],
  },
  'author.log': { level: ({ level }) => level, text: ({ message }) => message, fields: [...attempt, 'step'] },

  'chore.started': { text: 'chore started', fields: ['chore'] },
  'chore.succeeded': {
    // Some chores run every few seconds, and find nothing to do.
    level: ({ message }) => (message === undefined ? undefined : 'info'),
    text: 'chore done',
    fields: ['chore', 'message', 'durationMs'],
  },
  'chore.failed': {
    level: 'error',
    text: 'chore failed: its next period tries again',
    fields: ['chore', 'durationMs', 'error'],
  },
  'chore.interrupted': {
    level: 'warn',
    text: 'chore interrupted: it is taken over when its lease is over',
    fields: ['chore', 'durationMs', 'error'],
  },
  'chore.lost': {
    level: 'warn',
    text: 'a chore outlived its lease: another replica has taken it over',
    fields: ['chore'],
  },
  'chore.unrecorded': { level: 'error', text: 'cannot write that a chore has ended', fields: ['chore', 'error'] },
  'chore.startFailed': { level: 'warn', text: 'a chore did not start', fields: ['chore', 'error'] },

  'store.unavailable': {
    level: 'error',
    text: 'the store does not answer: no work is begun until it does',
    fields: ['store', 'error'],
  },
  'store.available': { level: 'info', text: 'the store answers again', fields: ['store', 'outageMs'] },
  'store.migrated': { level: 'info', text: 'brought the schema up to date', fields: ['store', 'migrations'] },
  'store.wakeUpsLost': {
    level: 'warn',
    text: 'wake-ups from other replicas come late until the connection is back',
    fields: ['store', 'error'],
  },

  'registry.unavailable': { level: 'warn', text: 'a registry does not answer', fields: ['registry', 'problem'] },
  'registry.available': { level: 'info', text: 'a registry answers again', fields: ['registry'] },
  'registry.problem': {
    level: 'warn',
    text: 'a registry has something that cannot be used',
    fields: ['registry', 'problem'],
  },
  'revision.deletionFailed': {
    level: 'warn',
    text: 'could not delete unused revisions: the next purge tries again',
    fields: ['error'],
  },

  'bundle.secretsFailed': {
    level: 'warn',
    text: 'the secrets of a bundle cannot be read',
    fields: ['bundle', 'error'],
  },
  'bundle.copyFailed': {
    level: 'warn',
    text: 'a bundle cannot be copied: its instances run whatever its folder holds',
    fields: ['folder', 'error'],
  },
  'bundle.changed': {
    level: 'warn',
    text: 'a bundle was changed and no copy was kept of what it was: it runs as it is now',
    fields: ['bundle', 'folder'],
  },

  'sandbox.removed': {
    level: 'info',
    text: 'a sandbox that nobody needed was removed',
    fields: ['sandbox', 'runtime', 'operationId'],
  },
  'sandbox.removalFailed': {
    level: 'warn',
    text: 'a sandbox could not be removed',
    fields: ['sandbox', 'runtime', 'operationId', 'error'],
  },
  'sandbox.unreachable': {
    level: 'warn',
    text: 'a runtime does not answer',
    fields: ['sandbox', 'host', 'operationId', 'reason'],
  },
  'sandbox.listingFailed': {
    level: 'warn',
    text: 'sandboxes could not be listed: unused ones stay for now',
    fields: ['runtime', 'error'],
  },
}

/** Every type of event. */
export const eventTypes = Object.keys(lines) as readonly EventType[]
