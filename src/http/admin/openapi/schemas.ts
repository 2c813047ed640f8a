/** What the operators' API answers, as JSON Schema. Fields that are not required are absent where they are not known. */
import { actions } from '../../../protocol/actions.ts'
import type { JsonObject } from '../../../protocol/json.ts'

const words = { type: 'string' } as const
const count = { type: 'integer', minimum: 0 } as const
const yes = { type: 'boolean' } as const
const time = { type: 'string', format: 'date-time' } as const
const any = { type: 'object' } as const

type Fields = Readonly<Record<string, JsonObject>>

/** A name with a question mark may be absent. */
function object(fields: Fields, more = false): JsonObject {
  const names = Object.keys(fields)
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name.replace('?', ''), schema])),
    required: names.filter(name => !name.endsWith('?')),
    ...(more ? {} : { additionalProperties: false }),
  }
}

const list = (items: JsonObject): JsonObject => ({ type: 'array', items })
export const ref = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` })
const page = (name: string) => object({ items: list(ref(name)), 'next?': words })
const oneOf = (...choices: readonly string[]) => ({ type: 'string', enum: [...choices] })

const state = oneOf('queued', 'running', 'succeeded', 'failed', 'superseded')
const phase = oneOf('creating', 'ready', 'updating', 'deleting', 'failed', 'deleted')
const action = oneOf(...actions)
const allowed = { type: 'object', additionalProperties: object({ allowed: yes, 'reason?': words }) }

const operationFields: Fields = {
  id: words,
  instance_id: words,
  'binding_id?': words,
  service_id: words,
  'plan_id?': words,
  'platform?': words,
  action,
  state,
  'description?': words,
  'error?': object({ message: words, 'fingerprint?': words, 'step?': words }, true),
  attempt: count,
  not_before: time,
  deadline_at: time,
  'hold?': object({ since: time, 'by?': words, 'error?': any }, true),
  'request_id?': words,
  accepted_at: time,
  'finished_at?': time,
}

/** More than the lists show of one operation; the names of a row are not promised. */
const shownOperation = object({ ...operationFields, 'waiting_for?': words, 'retry_of?': words }, true)

const instanceFields: Fields = {
  id: words,
  platform: words,
  service_id: words,
  plan_id: words,
  phase,
  created: yes,
  usable: yes,
  'context?': any,
  'conditions?': list(object({ type: words, status: yes }, true)),
  'maintenance_version?': words,
  'revision_id?': words,
  'next_revision_id?': words,
  last_operation_id: words,
  created_at: time,
  updated_at: time,
  'deleted_at?': time,
}

const chore = object({
  name: words,
  'pattern?': words,
  'time_zone?': words,
  'next_at?': time,
  running: yes,
  late: yes,
  'due_at?': time,
  'started_at?': time,
  'owner?': words,
  'finished_at?': time,
  'ok?': yes,
  'message?': words,
})

export const schemas = {
  Problem: object({ type: words, title: words, status: count, detail: words, error: words }),
  Me: object({ name: words, platform: words, roles: list(words), 'role?': words, allowed_actions: allowed }),
  Stats: object({
    at: time,
    age_seconds: count,
    window_seconds: count,
    operations: object({
      queued: count,
      running: count,
      succeeded: count,
      failed: count,
      superseded: count,
      past_deadline: count,
      'oldest_due_at?': time,
      'oldest_running_at?': time,
    }),
    active: list(
      object(
        { action, state, operations: count, accepted_since: time, 'due_since?': time, past_deadline: count },
        true,
      ),
    ),
    ended: list(object({ action, state, operations: count })),
    instances: list(object({ service_id: words, plan_id: words, phase, usable: yes, instances: count })),
    bindings: list(object({ service_id: words, phase, bindings: count })),
  }),
  Revisions: object({ at: time, age_seconds: count, items: list(any) }),
  Workers: object({
    items: list(
      object({
        owner: words,
        seen_at: time,
        'name?': words,
        version: words,
        host: words,
        pid: count,
        node: words,
        since: time,
        slots: count,
        used: count,
        leases: count,
        free: { type: 'integer' },
      }),
    ),
  }),
  Quotas: object({
    items: list(
      object({
        platform: words,
        use: object({ instances: count, bindings: count, operations: count }),
        limit: object({ 'instances?': count, 'bindings?': count, 'operations?': count }),
      }),
    ),
  }),
  Errors: object({
    items: list(
      object({
        fingerprint: words,
        service_id: words,
        action,
        'step?': words,
        count,
        failed: count,
        retrying: count,
        first_at: time,
        last_at: time,
        sample: object({ operation_id: words, instance_id: words, message: words }),
        operations: list(words),
      }),
    ),
    complete: yes,
  }),
  Act: object({
    at: time,
    'verb?': words,
    'by?': words,
    'principal?': words,
    'address?': words,
    'reason?': words,
    'request_id?': words,
    instance_id: words,
    'binding_id?': words,
    'operation_id?': words,
    'action?': words,
    'message?': words,
    'before?': any,
    'after?': any,
  }),
  History: page('Act'),
  Chain: object({
    anchor: object({ no: count, hash: words }),
    head: object({ no: count, hash: words }),
    proof: oneOf('proven', 'none', 'wrong', 'missing-key'),
    'key?': words,
    keyed: yes,
    unlinked: count,
    strays: count,
  }),
  Entry: object({ no: count, hash: words, 'entry?': any }),
  Entries: object({ items: list(ref('Entry')), 'next?': count }),
  Instance: object(instanceFields),
  Instances: page('Instance'),
  ShownInstance: object(
    { ...instanceFields, bindings: list(any), 'last_operation?': ref('ShownOperation'), allowed_actions: allowed },
    true,
  ),
  Binding: object(
    {
      instance_id: words,
      id: words,
      service_id: words,
      plan_id: words,
      phase,
      last_operation_id: words,
      created_at: time,
    },
    true,
  ),
  Bindings: page('Binding'),
  Orphans: object({
    items: list(
      object({
        kind: words,
        service_id: words,
        name: words,
        'instance_id?': words,
        'binding_id?': words,
        'created_at?': time,
        'detail?': words,
        removable: yes,
        'reason?': words,
        'operation?': words,
      }),
    ),
    services: list(words),
    failed: list(object({ service_id: words, reason: words })),
    incomplete: yes,
    'dry_run?': yes,
  }),
  Operation: object(operationFields),
  Operations: page('Operation'),
  ShownOperation: shownOperation,
  Timeline: object({ operation: words, state, events: list(object({ at: time, type: words }, true)) }),
  Log: object({
    operation: words,
    action,
    state,
    instance_id: words,
    'binding_id?': words,
    runs: list(object({ name: words, log: words, 'exit?': { type: 'integer' }, 'verdict?': words, 'message?': words })),
  }),
  Moved: object({ instance_id: words, service_id: words, plan_id: words, revision: words, moved_from: words }),
  Abandoned: object(
    { instance_id: words, service_id: words, plan_id: words, phase, operation: words, remains: any },
    true,
  ),
  Adopted: object({ instance_id: words, 'outcome?': words, 'dry_run?': yes, 'warnings?': list(words) }, true),
  Catalog: object({ services: list(any) }),
  LogLevels: object({ levels: { type: 'object', additionalProperties: words } }),
  Session: object({
    id: words,
    principal: words,
    scheme: words,
    begun_at: time,
    expires_at: time,
    'address?': words,
  }),
  Sessions: page('Session'),
  EndedSessions: object({ ended: count }),
  Gate: object(
    { action: words, message: words, by: words, since: time, 'service_id?': words, 'plan_id?': words },
    true,
  ),
  Gates: object({ gates: list(ref('Gate')) }),
  Batch: object({ id: words, state: words, action: words, by: words, total: count, created_at: time }, true),
  Batches: page('Batch'),
  BatchItem: object({ id: words, 'outcome?': words, 'allowed?': yes }, true),
  BatchItems: page('BatchItem'),
  Chores: object({ chores: list(chore) }),
  StartedChore: object({ name: words, started: yes, due_at: time }),
  Keys: object({
    'current?': words,
    keys: list(object({ label: words, configured: yes, values: count })),
    plain_values: count,
  }),
  StartedRotation: object({ name: words, key: words, started: yes, due_at: time }),
  Registries: object({ registries: list(any), services: list(any), 'last_change?': any }),
  Document: any,
} satisfies Readonly<Record<string, JsonObject>>
