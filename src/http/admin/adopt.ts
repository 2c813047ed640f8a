import { adoptBindings, adoptInstance, type BindingAdoption, type BindingToAdopt } from '../../broker/verbs/adopt.ts'
import { bindingFields, metadataFields } from '../../protocol/answers.ts'
import { latestMinor } from '../../protocol/api-version.ts'
import { isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts'
import { malformed } from '../../protocol/request-fields.ts'
import { parseBind, parseProvision, requests } from '../../protocol/requests.ts'
import { flag, json as jsonField, text } from '../../shape/fields.ts'
import { list, object, optional, type Read } from '../../shape/shape.ts'
import { toWire } from '../../shape/wire.ts'
import type { HttpResponse } from '../message.ts'
import { json } from '../respond.ts'
import type { AdminEndpoint } from './admin-app.ts'
import { time, toMs } from './lists.ts'
import { readFields, reason } from './read-fields.ts'

/** What a platform's request for it says, what the broker made of it, and what it answered. */
const { serviceId: _service, planId: _plan, predecessorBindingId: _before, ...askedOfBinding } = requests.bind.entries
const result = object(bindingFields)
const bindingShape = object({
  bindingId: text(),
  ...askedOfBinding,
  ...bindingFields,
  state: optional(jsonField()),
  createdAt: optional(time),
})

const deciding = { reason, dryRun: optional(flag()) }

export const adoptBody = object({
  ...requests.provision.entries,
  platform: optional(text()),
  state: optional(jsonField()),
  dashboardUrl: optional(text()),
  metadata: optional(object(metadataFields)),
  revision: optional(text()),
  createdAt: optional(time),
  bindings: optional(list(bindingShape)),
  ...deciding,
})

export const adoptBindingsBody = object({ bindings: list(bindingShape), ...deciding })

/** POST /admin/instances/:id/adopt: what another broker made is this one's from now on. */
export const adoptInstanceEndpoint: AdminEndpoint = async ({ broker }, request) => {
  const sent = withoutNulls(await request.body())
  const given = readFields(adoptBody, sent)
  const { bindings = [], platform = 'default', state = {}, dashboardUrl, metadata, revision, createdAt } = given
  const { reason: why, dryRun = false } = given
  const { id, acting } = request
  const adopted = await adoptInstance(
    broker,
    { acting: { ...acting, reason: why }, dryRun },
    {
      id,
      platform,
      request: parseProvision(sent, true),
      state,
      dashboardUrl,
      metadata,
      revisionId: revision,
      createdAt: toMs(createdAt),
      bindings: toBindings(bindings, sent),
    },
  )
  const { outcome, serviceId, planId, revisionId, warnings } = adopted
  const ids = { instance_id: id, service_id: serviceId, plan_id: planId, revision: revisionId }
  return answer({ ...ids, outcome, warnings }, dryRun, adopted.bindings)
}

/** POST /admin/instances/:id/adopt-bindings: bindings of an instance that is here already. */
export const adoptBindingsEndpoint: AdminEndpoint = async ({ broker }, request) => {
  const sent = withoutNulls(await request.body())
  const { bindings, reason: why, dryRun = false } = readFields(adoptBindingsBody, sent)
  const { id: instanceId, acting } = request
  const adopting = { acting: { ...acting, reason: why }, dryRun }
  const adopted = await adoptBindings(broker, adopting, { instanceId, bindings: toBindings(bindings, sent) })
  return answer({ instance_id: instanceId }, dryRun, adopted)
}

/** 201 where something new was written. */
function answer(about: JsonObject, dryRun: boolean, bindings: readonly BindingAdoption[]): HttpResponse {
  const isNew = about.outcome === 'adopted' || bindings.some(({ outcome }) => outcome === 'adopted')
  return json(isNew && !dryRun ? 201 : 200, {
    ...about,
    dry_run: dryRun,
    bindings: bindings.map(({ id, outcome, warnings }) => ({ binding_id: id, outcome, warnings })),
  })
}

function toBindings(
  bindings: readonly Read<typeof bindingShape>[],
  { bindings: sent }: JsonObject,
): readonly BindingToAdopt[] {
  const ids = new Set(bindings.map(({ bindingId }) => bindingId))
  if (ids.size < bindings.length) throw malformed('a binding_id came twice')
  return bindings.map((binding, index) => {
    const { bindingId: id, state = {}, createdAt, metadata } = binding
    const asked = Array.isArray(sent) ? sent[index] : undefined
    const expiresAt = toTime(metadata?.expiresAt, 'expires_at')
    const renewBefore = toTime(metadata?.renewBefore, 'renew_before')
    return {
      id,
      // The ids are those of the instance.
      request: parseBind({ ...(isJsonObject(asked) ? asked : {}), service_id: '-', plan_id: '-' }),
      state,
      result: toWire(result, binding, latestMinor),
      expiresAt,
      renewBefore,
      createdAt: toMs(createdAt),
    }
  })
}

function toTime(words: string | undefined, name: string): number | undefined {
  const at = toMs(words)
  if (Number.isNaN(at)) throw malformed(`metadata.${name} is not a time`)
  return at
}

/** What a query of another broker's tables has no value for. */
function withoutNulls(given: JsonObject): JsonObject {
  const kept = Object.entries(given).filter(([, value]) => value !== null)
  return Object.fromEntries(kept.map(([key, value]) => [key, key === 'bindings' ? withoutNullsIn(value) : value]))
}

function withoutNullsIn(value: Json | undefined): Json | undefined {
  return Array.isArray(value) ? value.map(each => (isJsonObject(each) ? withoutNulls(each) : each)) : value
}
