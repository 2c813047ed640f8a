import { beginRotation, readKeys } from '../../broker/keys/rotate-keys.ts'
import { object, optional } from '../../shape/shape.ts'
import { json } from '../respond.ts'
import type { AdminEndpoint } from './admin-app.ts'
import { toTime } from './chores.ts'
import { readFields, reason } from './read-fields.ts'

export const rotateBody = object({ reason: optional(reason) })

/** GET /admin/keys: what is encrypted, and with which keys. No key is shown, only what it is called. */
export const listKeysEndpoint: AdminEndpoint = async ({ broker }) => {
  const { current, keys, plain } = await readKeys(broker)
  return json(200, { current, keys: keys.map(key => ({ ...key })), plain_values: plain })
}

/** POST /admin/keys/rotate -> 202: the chore rotate-keys runs from now on. `due_at` tells this run from others in the list. */
export const rotateKeysEndpoint: AdminEndpoint = async ({ broker, chores }, { acting, body }) => {
  const given = readFields(rotateBody, await body())
  const { dueAt, key } = await beginRotation(broker, chores, { ...acting, ...given })
  return json(202, { name: 'rotate-keys', key, started: true, due_at: toTime(dueAt) })
}
