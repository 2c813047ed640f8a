import type { BrokerEvents, EventType } from '../events.ts'

export type LogLevel = 'info' | 'warn' | 'error'

/**
 * How one type of event is logged: level, text, and the fields that are shown, in this order. Empty, or a level that is
 * undefined: the event is for metrics and traces, and gets no line.
 */
export type LineOf<Event> =
  | readonly []
  | readonly [
      level: LogLevel | ((event: Event) => LogLevel | undefined),
      text: string | ((event: Event) => string),
      ...fields: (keyof Event & string)[],
    ]

const operation = ['operationId', 'action', 'instanceId', 'bindingId', 'requestId', 'fence', 'traceparent'] as const
const attempt = [...operation, 'attempt'] as const
const step = [...attempt, 'step', 'calls'] as const
const target = ['method', 'path'] as const
const client = ['address', 'principal', 'platform', 'requestId'] as const
const expiring = ['instanceId', 'bindingId', 'serviceId', 'platform', 'expiresAt'] as const
const chore = ['chore', 'durationMs'] as const

function sayMissing({ missing, more }: BrokerEvents['catalog.incomplete']): string {
  const named = missing.map(({ serviceId, planId, instances }) => {
    const service = `service ${JSON.stringify(serviceId)}`
    const what = planId === undefined ? service : `plan ${JSON.stringify(planId)} of ${service}`
    return `${what} (${instances})`
  })
  const others = more === 0 ? '' : ` and ${more} more`
  return `${named.join(', ')}${others}; put it back into the code or the catalog until they are deleted`
}

/** The whole log: level, text and fields of every event. */
export const lines: { readonly [Type in EventType]: LineOf<BrokerEvents[Type]> } = {
  'broker.startFailed': ['error', 'the broker cannot start', 'error'],
  'broker.serving': ['info', 'serving', 'url', 'store', 'services'],
  'broker.open': ['warn', 'no credentials are configured: everybody who reaches this address may use the broker'],
  'broker.stopping': ['info', 'stopping', 'signal', 'delayMs', 'graceMs'],
  'broker.stopped': ['info', 'stopped'],

  'name.takenOver': ['info', 'what this name ran before goes on', 'name', 'former'],
  'name.lost': ['error', 'another process has taken the name, since this one gave no sign of life', 'name'],

  'configuration.reloaded': ['info', 'the configuration of sign-in was read again', 'files'],
  'configuration.reloadFailed': [
    'error',
    'the configuration of sign-in has changed and cannot be used: what was read before stays in force',
    'files',
    'error',
  ],
  'authentication.keysUnavailable': ['error', ({ issuer }) => `the keys of ${issuer} could not be read`, 'error'],
  'authentication.providerFailed': ['error', ({ issuer }) => `${issuer} did not answer as it should`, 'error'],
  'configuration.warning': ['warn', ({ message }) => `configuration: ${message}`],
  'log.levelsChanged': ['warn', 'an operator has changed what is logged', 'principal', 'requestId', 'levels'],
  'catalog.warning': ['warn', ({ message }) => `catalog: ${message}`],
  'catalog.incomplete': ['warn', event => `instances of what this broker does not have: ${sayMissing(event)}`],
  'catalog.readFailed': ['warn', 'could not read the catalog: trying again', 'error'],

  'request.ended': [
    ({ status, route }) => {
      if (status >= 500) return 'warn'
      // Health checks come every few seconds.
      return status === 200 && (route === '/healthz' || route === '/readyz') ? undefined : 'info'
    },
    ({ aborted }) => (aborted ? 'request aborted' : 'request'),
    ...target,
    'status',
    'durationMs',
    'bytes',
    ...client,
    'operationId',
    'error',
    'traceparent',
  ],
  'request.failed': [
    'error',
    ({ status }) => (status === 503 ? 'request failed: the store cannot be used' : 'request failed'),
    'incident',
    'requestId',
    'traceparent',
    'error',
  ],
  'session.begun': ['info', 'signed in', 'principal', 'platform', 'address', 'session'],
  'session.ended': ['info', ({ of }) => `a session of ${of} was ended`, 'principal', 'session', 'requestId'],
  'authentication.failed': [
    'warn',
    'authentication failed',
    ...target,
    'scheme',
    'reason',
    'address',
    'requestId',
    'traceparent',
  ],
  'request.limited': [
    'warn',
    ({ limit }) => (limit === 'rate' ? 'too many requests' : `the quota of ${limit} is used up`),
    'platform',
    'principal',
    'requestId',
    'traceparent',
  ],
  'server.failed': ['error', 'the HTTP server reported an error', 'error'],

  'operation.accepted': [],
  'operation.started': [],
  'operation.parked': [],
  'operation.handedBack': [],
  'operation.interrupted': ['error', 'operation interrupted', ...attempt, 'error'],
  'operation.succeeded': ['info', 'operation succeeded', ...attempt, 'totalMs'],
  'operation.failed': ['warn', 'operation failed', ...attempt, 'totalMs', 'reason', 'error'],
  'operation.held': ['warn', 'operation held: an operator has to decide', ...attempt, 'until', 'reason', 'error'],
  'operation.superseded': ['info', 'operation superseded', ...operation, 'supersededBy'],
  'operation.poisonous': [
    'error',
    'operation keeps killing its workers: put aside for 10 minutes',
    ...attempt,
    'losses',
  ],
  'operation.unknownService': ['error', 'no service of this broker can do this operation', ...attempt, 'serviceId'],
  'deletion.forced': [
    'warn',
    ({ bindingId }) =>
      `unknown ${bindingId === undefined ? 'instance' : 'binding'} counted as deleted: forceDeleteUnknown is on`,
    'instanceId',
    'bindingId',
    'requestId',
    'traceparent',
  ],
  'binding.expiresSoon': ['warn', 'a binding expires: it should be rotated', ...expiring],
  'binding.expired': [
    'warn',
    ({ operationId }) => `a binding has expired${operationId === undefined ? '' : ': it is unbound'}`,
    ...expiring,
    'operationId',
  ],
  'operator.acted': [
    'warn',
    ({ verb }) => `an operator has acted: ${verb}`,
    'principal',
    'reason',
    'instanceId',
    'bindingId',
    'operationId',
    'requestId',
    'traceparent',
  ],

  'gate.changed': [
    'warn',
    ({ action, closed }) => `an operator has ${closed ? 'closed' : 'opened'} the gate: ${action}`,
    'principal',
    'reason',
    'serviceId',
    'planId',
    'requestId',
  ],

  'action.failed': ['warn', 'action failed, trying again', ...attempt, 'failures', 'delayMs', 'error'],
  'step.succeeded': [],
  'step.failed': [
    'warn',
    ({ delayMs }) => (delayMs === undefined ? 'step failed for good' : 'step failed, trying again'),
    ...step,
    'delayMs',
    'error',
  ],
  'hook.failed': ['error', 'an error hook failed', ...operation, 'hook', 'error'],
  'author.unhandled': [
    'error',
    ({ kind }) =>
      kind === 'rejection'
        ? 'a promise that was not awaited was rejected'
        : 'an error in a callback of an action ends the process',
    ...attempt,
    'step',
    'error',
  ],
  'process.unhandled': [
    'error',
    'a promise that was not awaited was rejected and ends the process; it cannot be traced to an operation',
    'error',
  ],
  'author.log': [({ level }) => level, ({ message }) => message, ...attempt, 'step'],

  'chore.started': [],
  'chore.succeeded': [
    // Some chores run every few seconds, and find nothing to do.
    ({ message }) => (message === undefined ? undefined : 'info'),
    'chore done',
    'chore',
    'message',
    'durationMs',
  ],
  'chore.failed': ['error', 'chore failed: its next period tries again', ...chore, 'error'],
  'chore.interrupted': ['warn', 'chore interrupted: it is taken over when its lease is over', ...chore, 'error'],
  'chore.lost': ['warn', 'a chore outlived its lease: another replica has taken it over', 'chore'],
  'chore.unrecorded': ['error', 'cannot write that a chore has ended', 'chore', 'error'],
  'chore.startFailed': ['warn', 'a chore did not start', 'chore', 'error'],

  'store.called': [],
  'store.unavailable': ['error', 'the store does not answer: no work is begun until it does', 'store', 'error'],
  'store.available': ['info', 'the store answers again', 'store', 'outageMs'],
  'store.migrated': ['info', 'brought the schema up to date', 'store', 'migrations'],
  'store.wentBack': [
    'error',
    'the ledger went back in time: what was written last is lost, compare it with your backends',
    'store',
    'lost',
  ],
  'store.wakeUpsLost': [
    'warn',
    'wake-ups from other replicas come late until the connection is back',
    'store',
    'error',
  ],

  'registry.unavailable': ['warn', 'a registry does not answer', 'registry', 'problem'],
  'registry.available': ['info', 'a registry answers again', 'registry'],
  'registry.problem': ['warn', 'a registry has something that cannot be used', 'registry', 'problem'],
  'registry.warning': ['warn', 'a bundle is offered although it has a flaw', 'registry', 'problem'],
  'image.vanished': [
    'warn',
    'a registry has lost an image that instances need; push it again, or move them to another version',
    'registry',
    'image',
    'service',
    'instances',
  ],
  'image.keepFailed': [
    'warn',
    'images that instances need are not kept on this machine: it is tried again',
    'image',
    'error',
  ],
  'service.retired': ['warn', 'a service left the catalog', 'service', 'registry', 'reason'],
  'service.notListed': ['error', 'what the backend of a service holds could not be listed', 'service', 'error'],
  'revision.deletionFailed': ['warn', 'could not delete unused revisions: the next purge tries again', 'error'],

  'bundle.secretsFailed': ['warn', 'the secrets of a bundle cannot be read', 'bundle', 'error'],
  'bundle.copyOutdated': [
    'warn',
    'what is kept could not be copied: the copy is older than the ledger',
    'bundle',
    'instanceId',
    'error',
  ],
  'bundle.copyFailed': [
    'warn',
    'a bundle cannot be copied: its instances run whatever its folder holds',
    'folder',
    'error',
  ],
  'bundle.changed': [
    'warn',
    'a bundle was changed and no copy was kept of what it was: it runs as it is now',
    'bundle',
    'folder',
  ],

  'sandbox.listed': [],
  'sandbox.removed': ['info', 'a sandbox that nobody needed was removed', 'sandbox', 'runtime', 'operationId'],
  'sandbox.removalFailed': ['warn', 'a sandbox could not be removed', 'sandbox', 'runtime', 'operationId', 'error'],
  'sandbox.unreachable': ['warn', 'a runtime does not answer', 'sandbox', 'host', 'operationId', 'reason'],
  'sandbox.listingFailed': ['warn', 'sandboxes could not be listed: unused ones stay for now', 'runtime', 'error'],
}

/** Every type of event. */
export const eventTypes = Object.keys(lines) as readonly EventType[]
