import { listChores } from '../../broker/chores/by-hand.ts'
import { listRegistries, type RegistryStatus, type ServiceStatus } from '../../broker/registries/list-registries.ts'
import { isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts'
import { json } from '../respond.ts'
import type { AdminEndpoint } from './admin-app.ts'
import { toTime } from './list-chores.ts'

/** GET /admin/registries: how each registry answers, what came from it and who uses what, and what changed last. */
export const listRegistriesEndpoint: AdminEndpoint = async ({ broker, chores, registries: configured = [] }) => {
  const [{ registries, services, lastChange }, upkeep] = await Promise.all([
    listRegistries(broker.store, configured),
    listChores(chores),
  ])
  const nextAt = upkeep.find(({ name }) => name === 'sync')?.nextAt
  return json(200, {
    registries: registries.map(registry => toRegistryBody(registry, nextAt)),
    services: services.map(toServiceBody),
    ...(lastChange === undefined
      ? {}
      : { last_change: { at: toTime(lastChange.at), report: toWire(lastChange.report) } }),
  })
}

/** What is not known is left out: a registry that was never asked has no times, one that was taken out has no type. */
function toRegistryBody({ name, type, state }: RegistryStatus, nextAt: number | undefined): JsonObject {
  return {
    name,
    type,
    ...(state === undefined
      ? {}
      : {
          checked_at: toTime(state.checkedAt),
          last_answer_at: toTime(state.lastAnswerAt),
          partial: state.partial === true,
          failures: state.failures,
          silent_since: toTime(state.silentSince),
          last_problem: state.lastProblem,
          problems: state.problems,
        }),
    ...(nextAt === undefined || type === undefined ? {} : { next_at: toTime(nextAt) }),
  }
}

function toServiceBody(service: ServiceStatus): JsonObject {
  const { serviceId, name, registry, revisionId, revision, retiredAt, instances } = service
  return {
    id: serviceId,
    name,
    registry,
    revision: revisionId,
    bundle_version: revision?.bundleVersion,
    ...(revision === undefined ? {} : { image: revision.image, tag: revision.tag, digest: revision.digest }),
    retired_at: toTime(retiredAt),
    instances: instances.map(({ revisionId: pinned, bundleVersion, count }) => ({
      revision: pinned,
      bundle_version: bundleVersion,
      count,
    })),
  }
}

/** A report has the code's names; its keys are never anything else. */
function toWire(value: Json): Json {
  if (Array.isArray(value)) return value.map(toWire)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) =>
      inner === undefined ? [] : [[key.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`), toWire(inner)]],
    ),
  )
}
