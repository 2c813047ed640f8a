import { readSnapshot, type Snapshot, surveyWindow } from '../../broker/survey.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { json } from '../respond.ts'
import type { AdminEndpoint } from './admin-app.ts'
import { toTime } from './chores.ts'
import { toBody } from './to-body.ts'

/** GET /admin/stats: what was counted last, and how long ago. No request counts. */
export const showStatsEndpoint: AdminEndpoint = async ({ broker, chores }) => {
  const { snapshot, ...times } = await readSnapshot(broker, chores)
  const { active, ended, instances, bindings } = snapshot
  return json(200, {
    ...toAge(times),
    window_seconds: surveyWindow / 1000,
    operations: toTotals(snapshot),
    active: active.map(toBody),
    ended: ended.map(toBody),
    instances: instances.map(toBody),
    bindings: bindings.map(toBody),
  })
}

/** GET /admin/revisions: of each service of a registry, which instances have which revision; counted in the same run. */
export const listRevisionsEndpoint: AdminEndpoint = async ({ broker, chores }) => {
  const { snapshot, ...times } = await readSnapshot(broker, chores)
  return json(200, { ...toAge(times), items: snapshot.revisions.map(toBody) })
}

function toAge({ at, now }: { readonly at: number; readonly now: number }): JsonObject {
  return { at: toTime(at), age_seconds: Math.max(0, Math.round((now - at) / 1000)) }
}

/** Over all actions. Those that have ended are those of the window. */
function toTotals({ active, ended }: Snapshot): JsonObject {
  const sum = (of: string) =>
    [...active, ...ended].filter(({ state }) => state === of).reduce((all, { operations }) => all + operations, 0)
  const oldest = (times: readonly (number | undefined)[]) => {
    const known = times.filter(time => time !== undefined)
    return known.length === 0 ? undefined : toTime(Math.min(...known))
  }
  return {
    queued: sum('queued'),
    running: sum('running'),
    succeeded: sum('succeeded'),
    failed: sum('failed'),
    superseded: sum('superseded'),
    oldest_due_at: oldest(active.map(({ dueSince }) => dueSince)),
    oldest_running_at: oldest(
      active.map(({ state, acceptedSince }) => (state === 'running' ? acceptedSince : undefined)),
    ),
    past_deadline: active.reduce((all, { pastDeadline }) => all + pastDeadline, 0),
  }
}
