import { type ChoreStatus, runChoreOf } from '../../broker/chores/by-hand.ts'
import { beginRotation, rotateKeysChore } from '../../broker/keys/rotate-keys.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { json } from '../respond.ts'
import type { AdminEndpoint } from './admin-app.ts'

/** GET /admin/chores: every chore, when it runs, and how its latest run went. What is not known is left out. */
export const listChoresEndpoint: AdminEndpoint = async ({ chores }) =>
  json(200, { chores: (await chores.list()).map(toBody) })

function toBody({ name, schedule, nextAt, latest, running, late }: ChoreStatus): JsonObject {
  return {
    name,
    pattern: schedule?.pattern,
    time_zone: schedule?.timeZone,
    next_at: toTime(nextAt),
    running,
    late,
    due_at: toTime(latest?.dueAt),
    started_at: toTime(latest?.startedAt),
    owner: latest?.owner,
    finished_at: toTime(latest?.finishedAt),
    ok: latest?.result?.ok,
    message: latest?.result?.message,
  }
}

/** POST /admin/chores/:name/runs -> 202: it runs here from now on. `due_at` tells this run from others in the list. */
export const runChoreEndpoint: AdminEndpoint = async (context, { id: name, acting }) => {
  const { broker, chores } = context
  // Its line says more: which keys protected what.
  const isRotation = name === rotateKeysChore && chores.names.includes(name)
  const { dueAt } = isRotation
    ? await beginRotation(broker, chores, acting)
    : { dueAt: await runChoreOf(broker, chores, acting, name) }
  return json(202, { name, started: true, due_at: toTime(dueAt) })
}

export function toTime(ms: number): string
export function toTime(ms: number | undefined): string | undefined
export function toTime(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString()
}
