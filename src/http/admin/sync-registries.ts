import { runChoreByHand } from '../../broker/chores/by-hand.ts'
import { json } from '../respond.ts'
import type { AdminEndpoint } from './admin-app.ts'
import { toTime } from './list-chores.ts'

/** POST /admin/registries/sync -> 202: the chore `sync` runs here from now on. Its run in the list of chores says how it ends. */
export const syncRegistriesEndpoint: AdminEndpoint = async ({ chores }) => {
  const name = 'sync'
  return json(202, { name, started: true, due_at: toTime(await runChoreByHand(chores, name)) })
}
