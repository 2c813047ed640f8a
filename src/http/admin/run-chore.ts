import { runChoreByHand } from '../../broker/chores/by-hand.ts'
import { json } from '../respond.ts'
import type { AdminEndpoint } from './admin-app.ts'
import { toTime } from './list-chores.ts'

/** POST /admin/chores/:name/runs -> 202: it runs here from now on. `due_at` tells this run from others in the list. */
export const runChoreEndpoint: AdminEndpoint = async ({ chores }, name) => {
  const dueAt = await runChoreByHand(chores, name)
  return json(202, { name, started: true, due_at: toTime(dueAt) })
}

/** POST /admin/registries/sync -> 202: the same for the chore `sync`. */
export const syncRegistriesEndpoint: AdminEndpoint = context => runChoreEndpoint(context, 'sync')
