import type { Shape } from '../../../shape/shape.ts'
import { abandonBody } from '../abandon-instance.ts'
import { adoptBindingsBody, adoptBody } from '../adopt.ts'
import { itemsQuery, listQuery, orderBody } from '../batches.ts'
import { errorsQuery } from '../errors.ts'
import { gateBody, openGateQuery } from '../gates.ts'
import { entriesQuery, historyQuery } from '../history.ts'
import { bindingsQuery, instancesQuery } from '../instances.ts'
import { rotateBody } from '../keys.ts'
import { logLevelsBody } from '../log-levels.ts'
import { moveBody } from '../move-instance.ts'
import { exportQuery } from '../moving.ts'
import { observeBody } from '../observe-instance.ts'
import { failBody, verbBody } from '../operation-verbs.ts'
import { operationsQuery } from '../operations.ts'
import { orphansQuery, removeOrphansBody } from '../orphans.ts'
import { ofPrincipal, sessionsQuery } from '../sessions.ts'
import { sweepBody } from '../sweep-instance.ts'
import type { schemas } from './schemas.ts'

export interface RouteDescription {
  readonly summary: string
  readonly query?: Shape
  readonly body?: Shape
  readonly status?: 202
  /** Another status that the same answer may have. */
  readonly orElse?: { readonly status: 200 | 201; readonly when: string }
  /** None: only as a stream. */
  readonly answer?: keyof typeof schemas
  readonly streams?: true
  /** The type of an answer that is not JSON. */
  readonly file?: string
}

const adoptedAnew = { status: 201, when: 'Something was not here before' } as const

/** What the routes do not say of themselves, by path. A test compares both. */
export const routeDescriptions: Readonly<Record<string, RouteDescription>> = {
  '/admin/me': { summary: 'Who asks, and what may be done', answer: 'Me' },
  '/admin/openapi.json': { summary: 'This document', answer: 'Document' },
  '/admin/stats': { summary: 'What there is, in numbers', answer: 'Stats' },
  '/admin/revisions': { summary: 'Which instances have which revision', answer: 'Revisions' },
  '/admin/workers': { summary: 'The processes that live', answer: 'Workers' },
  '/admin/quotas': { summary: 'What each platform has, and may have', answer: 'Quotas' },
  '/admin/errors': { summary: 'Failures by what they have in common', query: errorsQuery, answer: 'Errors' },
  '/admin/events': { summary: 'Operations that have changed', streams: true },
  '/admin/history': {
    summary: 'What operators did by hand, and who signed in to the console',
    query: historyQuery,
    answer: 'History',
  },
  '/admin/history/chain': { summary: 'Where the chain of the history begins and ends', answer: 'Chain' },
  '/admin/history/entries': { summary: 'Every line of the history', query: entriesQuery, answer: 'Entries' },
  '/admin/instances': { summary: 'Lists instances', query: instancesQuery, answer: 'Instances' },
  '/admin/instances/:id': { summary: 'One instance', answer: 'ShownInstance' },
  '/admin/instances/:id/move': { summary: 'Pins it to another revision', body: moveBody, answer: 'Moved' },
  '/admin/instances/:id/abandon': { summary: 'Counts it as deleted', body: abandonBody, answer: 'Abandoned' },
  '/admin/instances/:id/observe': {
    summary: 'Looks at its health now',
    body: observeBody,
    status: 202,
    answer: 'ShownOperation',
  },
  '/admin/instances/:id/sweep': {
    summary: 'Deletes once more what is deleted: the instance, or one of its bindings',
    body: sweepBody,
    status: 202,
    answer: 'ShownOperation',
  },
  '/admin/instances/:id/adopt': {
    summary: 'Takes over what another broker made',
    body: adoptBody,
    orElse: adoptedAnew,
    answer: 'Adopted',
  },
  '/admin/instances/:id/adopt-bindings': {
    summary: 'Takes over bindings of an instance that is here',
    body: adoptBindingsBody,
    orElse: adoptedAnew,
    answer: 'Adopted',
  },
  '/admin/bindings': { summary: 'Lists bindings', query: bindingsQuery, answer: 'Bindings' },
  '/admin/orphans': {
    summary: 'Compares what backends hold with the ledger',
    query: orphansQuery,
    answer: 'Orphans',
  },
  '/admin/orphans/remove': {
    summary: 'The same, and begins to remove what belongs to nobody',
    body: removeOrphansBody,
    answer: 'Orphans',
  },
  '/admin/operations': { summary: 'Lists operations', query: operationsQuery, answer: 'Operations' },
  '/admin/operations/:id': { summary: 'One operation', answer: 'ShownOperation' },
  '/admin/operations/:id/timeline': { summary: 'What happened to it', answer: 'Timeline', streams: true },
  '/admin/operations/:id/log': { summary: 'What its bundles printed last', answer: 'Log', streams: true },
  '/admin/operations/:id/retry': verb('A failed operation once more, as a new one'),
  '/admin/operations/:id/cancel': verb('Stops it and undoes it'),
  '/admin/operations/:id/fail': { ...verb('Ends it as failed'), body: failBody },
  '/admin/operations/:id/hold': verb('Nobody runs it until it is released'),
  '/admin/operations/:id/release': verb('It goes on'),
  '/admin/operations/:id/run-now': verb('It is due now'),
  '/admin/export': {
    summary: 'All rows of the ledger, a JSON object a line',
    query: exportQuery,
    file: 'application/x-ndjson',
  },
  '/admin/backup': { summary: 'The file of a SQLite ledger', file: 'application/vnd.sqlite3' },
  '/admin/catalog': { summary: 'All services that are offered', answer: 'Catalog' },
  '/admin/chores': { summary: 'The chores and their latest runs', answer: 'Chores' },
  '/admin/chores/:name/runs': { summary: 'Runs a chore now', status: 202, answer: 'StartedChore' },
  '/admin/keys': { summary: 'What is encrypted, and with which keys', answer: 'Keys' },
  '/admin/keys/rotate': {
    summary: 'Encrypts everything with the current key',
    body: rotateBody,
    status: 202,
    answer: 'StartedRotation',
  },
  '/admin/log-levels': {
    summary: 'What gets a line in the log of this replica',
    body: logLevelsBody,
    answer: 'LogLevels',
  },
  '/admin/registries': { summary: 'Registries and what came from them', answer: 'Registries' },
  '/admin/registries/sync': { summary: 'Asks the registries now', status: 202, answer: 'StartedChore' },
  '/admin/sessions': { summary: 'Who is signed in to the console', query: sessionsQuery, answer: 'Sessions' },
  'DELETE /admin/sessions': { summary: 'Ends the sessions of somebody', query: ofPrincipal, answer: 'EndedSessions' },
  '/admin/sessions/:id': { summary: 'Ends a session', answer: 'EndedSessions' },
  '/admin/gates': { summary: 'The gates that are closed', answer: 'Gates' },
  '/admin/gates/:action': { summary: 'The closed gates of an action', answer: 'Gates' },
  'PUT /admin/gates/:action': { summary: 'Closes a gate', body: gateBody, answer: 'Gate' },
  'DELETE /admin/gates/:action': { summary: 'Opens a gate', query: openGateQuery, answer: 'Gate' },
  '/admin/batches': { summary: 'Lists batches', query: listQuery, answer: 'Batches' },
  'POST /admin/batches': {
    summary: 'Acts on many at once',
    body: orderBody,
    status: 202,
    orElse: { status: 200, when: 'A dry run: nothing was changed' },
    answer: 'Batch',
  },
  '/admin/batches/:id': { summary: 'One batch', answer: 'Batch' },
  '/admin/batches/:id/items': { summary: 'What came of each item', query: itemsQuery, answer: 'BatchItems' },
  '/admin/batches/:id/stop': { summary: 'Begins no other item', body: verbBody, status: 202, answer: 'Batch' },
}

function verb(summary: string): RouteDescription {
  return { summary, body: verbBody, status: 202, answer: 'ShownOperation' }
}
