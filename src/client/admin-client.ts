import type {
  ActBody,
  AdoptedBody,
  BatchBody,
  BatchItemBody,
  BatchOrderBody,
  ChainBody,
  EntryBody,
  ErrorGroupBody,
  GateBody,
  LogLevelsBody,
  MeBody,
  QuotaBody,
  RevisionsBody,
  SessionBody,
  StatsBody,
  ToAdopt,
  WorkerBody,
} from './acting-bodies.ts'
import type {
  AbandonedBody,
  BindingBody,
  ChoresBody,
  InstanceBody,
  KeysBody,
  ListBody,
  MovedBody,
  OperationBody,
  OperationLogBody,
  OrphansBody,
  Problem,
  RegistriesBody,
  ShownInstanceBody,
  ShownOperationBody,
  StartedRun,
  TimelineBody,
} from './admin-bodies.ts'
import type { WireCatalog } from './messages.ts'
import { type Query, toPath } from './request.ts'
import { type CallOptions, createSender, type OsbClientOptions } from './sender.ts'

export type AdminClient = ReturnType<typeof createAdminClient>

/** Purser's API for operators. */
export function createAdminClient(options: OsbClientOptions) {
  const { send, open } = createSender(options)
  const post = <Body>(path: string, body: object, call?: CallOptions) => send<Body>('POST', path, call, { body })
  return {
    me: (call?: CallOptions) => send<MeBody>('GET', '/admin/me', call),
    stats: (call?: CallOptions) => send<StatsBody>('GET', '/admin/stats', call),
    revisions: (call?: CallOptions) => send<RevisionsBody>('GET', '/admin/revisions', call),
    quotas: (call?: CallOptions) => send<ListBody<QuotaBody>>('GET', '/admin/quotas', call),
    workers: (call?: CallOptions) => send<ListBody<WorkerBody>>('GET', '/admin/workers', call),
    errors: (query: Query = {}, call?: CallOptions) =>
      send<ListBody<ErrorGroupBody>>('GET', '/admin/errors', { ...call, query }),
    history: (query: Query = {}, call?: CallOptions) =>
      send<ListBody<ActBody>>('GET', '/admin/history', { ...call, query }),
    chain: (call?: CallOptions) => send<Problem & Partial<ChainBody>>('GET', '/admin/history/chain', call),
    /** The lines after a number; `next` is the number to go on after. */
    entries: (after: number, call?: CallOptions) =>
      send<Problem & { readonly items?: readonly EntryBody[]; readonly next?: number }>(
        'GET',
        '/admin/history/entries',
        {
          ...call,
          query: { after: String(after), limit: '500' },
        },
      ),
    instances: (query: Query = {}, call?: CallOptions) =>
      send<ListBody<InstanceBody>>('GET', '/admin/instances', { ...call, query }),
    instance: (id: string, call?: CallOptions) =>
      send<ShownInstanceBody>('GET', toPath('admin', 'instances', id), call),
    bindings: (query: Query = {}, call?: CallOptions) =>
      send<ListBody<BindingBody>>('GET', '/admin/bindings', { ...call, query }),
    /** What backends hold and nobody has, and what they lack. */
    orphans: (query: Query = {}, call?: CallOptions) => send<OrphansBody>('GET', '/admin/orphans', { ...call, query }),
    removeOrphans: (
      body: { readonly service_id?: string; readonly dry_run?: boolean; readonly reason: string },
      call?: CallOptions,
    ) => post<OrphansBody>('/admin/orphans/remove', body, call),
    operations: (query: Query = {}, call?: CallOptions) =>
      send<ListBody<OperationBody>>('GET', '/admin/operations', { ...call, query }),
    operation: (id: string, call?: CallOptions) =>
      send<ShownOperationBody>('GET', toPath('admin', 'operations', id), call),
    timeline: (id: string, call?: CallOptions) =>
      send<TimelineBody>('GET', toPath('admin', 'operations', id, 'timeline'), call),
    /** retry, cancel, hold, release or run-now; answers the operation that comes out of it. */
    actOnOperation: (id: string, verb: string, body: { readonly reason?: string } = {}, call?: CallOptions) =>
      post<ShownOperationBody>(toPath('admin', 'operations', id, verb), body, call),
    /** `message` is what the platform is told. */
    failOperation: (id: string, body: { readonly message: string; readonly reason: string }, call?: CallOptions) =>
      post<ShownOperationBody>(toPath('admin', 'operations', id, 'fail'), body, call),
    moveInstance: (id: string, body: { readonly revision?: string; readonly reason: string }, call?: CallOptions) =>
      post<MovedBody>(toPath('admin', 'instances', id, 'move'), body, call),
    abandonInstance: (id: string, body: { readonly bindings?: boolean; readonly reason: string }, call?: CallOptions) =>
      post<AbandonedBody>(toPath('admin', 'instances', id, 'abandon'), body, call),
    adoptInstance: (id: string, body: ToAdopt, call?: CallOptions) =>
      post<AdoptedBody>(toPath('admin', 'instances', id, 'adopt'), body, call),
    adoptBindings: (id: string, body: ToAdopt, call?: CallOptions) =>
      post<AdoptedBody>(toPath('admin', 'instances', id, 'adopt-bindings'), body, call),
    /** All rows, a JSON object a line. */
    export: (query: { readonly with_secrets?: 'true' } = {}) => open<Problem>('/admin/export', query),
    /** The file of a SQLite store. */
    backup: () => open<Problem>('/admin/backup'),
    observeInstance: (id: string, body: { readonly reason?: string } = {}, call?: CallOptions) =>
      post<ShownOperationBody>(toPath('admin', 'instances', id, 'observe'), body, call),
    /** Of an instance that is deleted, or of one of its bindings. */
    sweepInstance: (id: string, body: { readonly binding_id?: string; readonly reason: string }, call?: CallOptions) =>
      post<ShownOperationBody>(toPath('admin', 'instances', id, 'sweep'), body, call),
    createBatch: (body: BatchOrderBody, call?: CallOptions) => post<BatchBody>('/admin/batches', body, call),
    batches: (query: Query = {}, call?: CallOptions) =>
      send<ListBody<BatchBody>>('GET', '/admin/batches', { ...call, query }),
    batch: (id: string, call?: CallOptions) => send<BatchBody>('GET', toPath('admin', 'batches', id), call),
    batchItems: (id: string, query: Query = {}, call?: CallOptions) =>
      send<ListBody<BatchItemBody>>('GET', toPath('admin', 'batches', id, 'items'), { ...call, query }),
    stopBatch: (id: string, body: { readonly reason?: string } = {}, call?: CallOptions) =>
      post<BatchBody>(toPath('admin', 'batches', id, 'stop'), body, call),
    /** All that is offered, whichever platform asks for it. */
    catalog: (call?: CallOptions) => send<Partial<WireCatalog> & Problem>('GET', '/admin/catalog', call),
    gates: (call?: CallOptions) =>
      send<Problem & { readonly gates?: readonly GateBody[] }>('GET', '/admin/gates', call),
    closeGate: (action: string, body: Partial<GateBody>, call?: CallOptions) =>
      send<GateBody & Problem>('PUT', toPath('admin', 'gates', action), call, { body }),
    openGate: (action: string, query: Query = {}, call?: CallOptions) =>
      send<GateBody & Problem>('DELETE', toPath('admin', 'gates', action), { ...call, query }),
    sessions: (query: Query = {}, call?: CallOptions) =>
      send<ListBody<SessionBody>>('GET', '/admin/sessions', { ...call, query }),
    endSession: (id: string, call?: CallOptions) =>
      send<Problem & { readonly ended?: number }>('DELETE', toPath('admin', 'sessions', id), call),
    /** All of one principal. */
    endSessions: (principal: string, call?: CallOptions) =>
      send<Problem & { readonly ended?: number }>('DELETE', '/admin/sessions', { ...call, query: { principal } }),
    chores: (call?: CallOptions) => send<ChoresBody>('GET', '/admin/chores', call),
    runChore: (name: string, call?: CallOptions) =>
      send<StartedRun>('POST', toPath('admin', 'chores', name, 'runs'), call),
    keys: (call?: CallOptions) => send<KeysBody>('GET', '/admin/keys', call),
    rotateKeys: (body: { readonly reason?: string } = {}, call?: CallOptions) =>
      post<StartedRun & { readonly key?: string }>('/admin/keys/rotate', body, call),
    /** Without levels it only answers what they are. */
    setLogLevels: (levels: Readonly<Record<string, string>> = {}, call?: CallOptions) =>
      send<LogLevelsBody>('PUT', '/admin/log-levels', call, { body: levels }),
    registries: (call?: CallOptions) => send<RegistriesBody>('GET', '/admin/registries', call),
    syncRegistries: (call?: CallOptions) => send<StartedRun>('POST', '/admin/registries/sync', call),
    operationLog: (id: string, call?: CallOptions) =>
      send<OperationLogBody>('GET', toPath('admin', 'operations', id, 'log'), call),
  }
}
