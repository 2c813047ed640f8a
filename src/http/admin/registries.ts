import { listRegistries, type RegistryStatus, type ServiceStatus } from '../../broker/registries/list-registries.ts'
import { BrokerError } from '../../protocol/errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts'
import { snakeCase } from '../../shape/describe.ts'
import { json } from '../respond.ts'
import type { AdminEndpoint } from './admin-app.ts'
import { runChoreEndpoint, toTime } from './chores.ts'

/** GET /admin/registries: how each registry answers, what came from it and who uses what, and what changed last. */
export const listRegistriesEndpoint: AdminEndpoint = async ({ broker, chores, registries: configured = [] }) => {
  const [{ registries, services, lastChange }, upkeep] = await Promise.all([
    listRegistries(broker.store, configured),
    chores.list(),
  ])
  const nextAt = upkeep.find(({ name }) => name === 'sync')?.nextAt
  return json(200, {
    registries: registries.map(registry => toRegistryBody(registry, nextAt)),
    services: services.map(toServiceBody),
    last_change: lastChange && { at: toTime(lastChange.at), report: toWire(lastChange.report) },
  })
}

/** POST /admin/registries/sync -> 202: the same for the chore `sync`. */
export const syncRegistriesEndpoint: AdminEndpoint = async (context, request) => {
  if (!context.chores.names.includes('sync'))
    throw new BrokerError(
      'VerbRefused',
      'No registry is configured, so there is none to ask. Name one under registries in the configuration.',
    )
  return runChoreEndpoint(context, { ...request, id: 'sync' })
}

/** A registry that was never asked has no times; one that is no longer configured has no type and is not asked again. */
function toRegistryBody({ name, type, state }: RegistryStatus, nextAt: number | undefined): JsonObject {
  return {
    name,
    type,
    checked_at: toTime(state?.checkedAt),
    last_answer_at: toTime(state?.lastAnswerAt),
    partial: state && state.partial === true,
    failures: state?.failures,
    silent_since: toTime(state?.silentSince),
    last_problem: state?.lastProblem,
    problems: state?.problems,
    warnings: state?.warnings,
    vanished: state?.vanished?.map(({ image, service, instances }) => ({ image, service, instances })),
    next_at: type === undefined ? undefined : toTime(nextAt),
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
    image: revision?.image,
    tag: revision?.tag,
    digest: revision?.digest,
    retired_at: toTime(retiredAt),
    instances: instances.map(({ revisionId: pinned, bundleVersion, count }) => ({
      revision: pinned,
      bundle_version: bundleVersion,
      count,
    })),
  }
}

/** A report has the names of the code: on the wire they are in snake case, as everywhere in this API. */
function toWire(value: Json): Json {
  if (Array.isArray(value)) return value.map(toWire)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [snakeCase(key), inner === undefined ? undefined : toWire(inner)]),
  )
}
