import type { BrokerDefinition } from '../author/broker-definition.ts'
import { checkDefinition } from '../author/check-definition.ts'
import { checkService } from '../author/check-service.ts'
import type { RetrySettings } from '../author/context.ts'
import type { Service } from '../author/define-service.ts'
import { checkCatalog } from '../catalog/check-catalog.ts'
import type { LoadedCatalog } from '../catalog/load-yaml.ts'
import { checkSource } from '../catalog/parameters.ts'
import { CatalogError, formatProblem, subjectOf } from '../catalog/problem.ts'
import type { BindingLife } from '../domain/expiry.ts'
import type { Instance } from '../domain/instance.ts'
import type { AsyncMode } from '../domain/intent.ts'
import type { RetryPolicy } from '../domain/retry.ts'
import type { Action } from '../protocol/actions.ts'
import type { Offering, Plan } from '../protocol/offering.ts'
import { offeringShape } from '../protocol/offering-shape.ts'
import type { ReadSettings } from '../settings/settings.ts'
import { type Duration, parseDuration } from '../shape/duration.ts'
import { isError, isWarning, type Mistake } from '../shape/mistake.ts'
import { isObject } from '../shape/place.ts'
import { messageOf } from '../shape/thrown.ts'
import { checkServiceSchemas, planSchemas, readSchemas, type ServiceSchemas, withSchemas } from './service-schemas.ts'
import { type SensitiveNames, sensitiveNamesOf } from './service-secrets.ts'

export type SettableAction = 'provision' | 'update' | 'deprovision' | 'bind' | 'unbind'

export interface ResolvedAction {
  readonly mode: AsyncMode
  readonly timeout: number
  readonly retry: RetryPolicy
}

/** A service as the broker runs it: its catalog entry, its code, and every setting with its default applied. Times are milliseconds. */
export interface ResolvedService {
  readonly offering: Offering
  readonly code: Service
  readonly actions: Readonly<Record<SettableAction, ResolvedAction>>
  readonly callTimeout: number
  readonly observeEvery: number
  /** What has used up its retries is held for an operator. */
  readonly holds: boolean
  /** How long bindings last, and whether the broker unbinds what has expired. */
  readonly bindings: BindingLife & { readonly unbindExpired: boolean }
  readonly plans: ReadonlyMap<string, { readonly plan: Plan; readonly schemas: ServiceSchemas }>
  /** The author's own, for what has a plan that left the catalog. */
  readonly schemas: ServiceSchemas
  /** Which parameters their schemas mark as secret. */
  readonly sensitive: SensitiveNames
  /** Where it came from a registry. */
  readonly revisionId?: string
  /** Plan ids by plan id: where an update may lead. Absent: wherever the plan may be left at all. */
  readonly updatesTo?: ReadonlyMap<string, readonly string[]>
  /** Stands in for a service that is not known. */
  readonly isPlaceholder?: boolean
  /** False where no call of an action can land after its worker has lost the lease. */
  readonly lateCalls?: boolean
}

export interface ServiceIndex {
  /** A new array whenever the list has changed, so that callers can compare by identity. */
  readonly offerings: readonly Offering[]
  readonly warnings: readonly string[]
  /** What the broker's own code offers. */
  readonly own: readonly Offering[]
  /** A service of the broker's own code. */
  find(serviceId: string): ResolvedService | undefined
  /** The service of an instance: the revision that it is pinned to, or the broker's own. */
  of(instance: Pick<Instance, 'serviceId' | 'revisionId'>): ResolvedService | undefined
}

/**
 * Joins code and catalog by service id and refuses what could not work: every problem at once, each with its place, its
 * reason and its remedy.
 */
export async function resolveServices(
  definition: BrokerDefinition,
  declared: LoadedCatalog,
  settings: ReadSettings,
): Promise<ServiceIndex> {
  const problems = checkDefinition(definition)
  const subject = problems.length > 0 ? 'the broker' : undefined
  const { services } = definition
  if (![services, declared.offerings].every(Array.isArray) || services.some(service => !isObject(service)))
    throw new CatalogError(problems, subject)
  const pairs = pair(services, declared.offerings)
  const named = pairs.map(({ offering }) => offering)
  const at = (index: number) => ({
    path: [index],
    place: index < declared.offerings.length ? declared.where([index]) : undefined,
    subject: subjectOf(named, [index]),
  })
  const parts = pairs.map(({ offering, service }, index) => {
    let schemas: ServiceSchemas = {}
    try {
      if (service !== undefined) schemas = readSchemas(service)
    } catch (error) {
      const remedy = 'give a JSON Schema, or a schema that can be written as one'
      problems.push({ ...at(index), problem: messageOf(error), remedy })
    }
    return { service, schemas, offering: withSchemas(offering, schemas) }
  })
  for (const [index, { service }] of pairs.entries())
    for (const kind of ['state', 'bindingState'] as const)
      await checkSource(service?.[kind] ?? {}).catch(error =>
        problems.push({
          ...at(index),
          problem: `"${kind}" is not a valid JSON Schema: ${messageOf(error)}`,
          remedy: 'correct it, or name the draft it is written in with "$schema"',
        }),
      )
  const offerings = parts.map(({ offering }) => offering)
  const ofSchemas: Mistake[] = []
  for (const [index, { schemas }] of parts.entries())
    await checkServiceSchemas(schemas, found => ofSchemas.push({ ...at(index), ...found }))
  // Without the service's schemas, which would be told once for each plan.
  const checked = await checkCatalog(named, declared.where, declared.sharedPlanIds)
  problems.push(...ofSchemas.filter(isError), ...checked.problems)
  for (const [index, { offering, service }] of pairs.entries())
    for (const found of checkService(offering, service)) problems.push({ ...at(index), ...found })
  if (problems.length > 0) throw new CatalogError(problems, subject)

  const resolved = parts.flatMap(({ offering, service, schemas }) =>
    service === undefined ? [] : [resolve(offering, service, settings, schemas)],
  )
  const byId = new Map(resolved.map(service => [service.offering.id, service]))
  const find = (serviceId: string) => byId.get(serviceId)
  return {
    offerings,
    own: offerings,
    // What was found in the file is found again in what was read from it.
    warnings: [
      ...new Set([...declared.warnings, ...ofSchemas.filter(isWarning), ...checked.warnings].map(formatProblem)),
    ],
    find,
    of: ({ serviceId, revisionId }) => (revisionId === undefined ? find(serviceId) : undefined),
  }
}

interface Pair {
  readonly offering: Partial<Offering> & { readonly id?: string }
  readonly service: Service | undefined
}

/** The file's offerings first and in its order, so that a problem's path is its path in the file. */
function pair(services: readonly Service[], declared: readonly Offering[]): Pair[] {
  const inFile = declared.map(offering => {
    const service = services.find(candidate => candidate.id === offering.id)
    return { offering: service === undefined ? offering : { ...catalogFields(service), ...offering }, service }
  })
  const inCode = services
    .filter(service => !declared.some(offering => offering.id === service.id))
    .map(service => ({ offering: catalogFields(service), service }))
  return [...inFile, ...inCode]
}

const catalogKeys = Object.keys(offeringShape.entries) as (keyof Offering)[]

/** What of a service's code is for the catalog. Instances and bindings can be fetched unless the author says otherwise. */
function catalogFields(service: Service): Partial<Offering> {
  const given = catalogKeys.filter(key => service[key] !== undefined).map(key => [key, service[key]])
  return { instancesRetrievable: true, bindingsRetrievable: service.bind && true, ...Object.fromEntries(given) }
}

export function resolve(
  offering: Offering,
  code: Service,
  settings: ReadSettings,
  schemas: ServiceSchemas,
): ResolvedService {
  const { engine } = settings
  const action = (name: SettableAction): ResolvedAction => {
    const { async: wanted = 'auto', timeout, retry } = code.actions?.[name] ?? {}
    // An asynchronous binding that nobody can fetch is a binding nobody can use (BIND-21).
    const mode = name === 'bind' && offering.bindingsRetrievable !== true ? 'never' : wanted
    return { mode, timeout: durationOr(engine.timeouts[name], timeout), retry: toRetryPolicy(retry, engine.retry) }
  }
  const plans = new Map(offering.plans.map(plan => [plan.id, { plan, schemas: planSchemas(offering, plan, schemas) }]))
  return {
    offering,
    code,
    actions: {
      provision: action('provision'),
      update: action('update'),
      deprovision: action('deprovision'),
      bind: action('bind'),
      unbind: action('unbind'),
    },
    callTimeout: durationOr(engine.callTimeout, code.callTimeout),
    observeEvery: durationOr(engine.observeEvery, code.observeEvery),
    holds: code.hold ?? isNamed(offering, engine.hold),
    bindings: {
      lifetime: durationOr(undefined, code.bindings?.lifetime),
      renewBefore: durationOr(undefined, code.bindings?.renewBefore),
      unbindExpired: code.bindings?.unbindExpired ?? isNamed(offering, settings.bindings.unbindExpired),
    },
    plans,
    schemas,
    sensitive: sensitiveNamesOf([schemas, ...Array.from(plans.values(), plan => plan.schemas)]),
  }
}

/**
 * Stands in for a service that is not known: one that a registry may offer when it has answered, or one that is gone while
 * a platform still asks for its instances. It has the settings that every service starts from, and no plan.
 */
export function createPlaceholder(id: string, settings: ReadSettings): ResolvedService {
  const offering = { id, name: '', description: '', bindable: true, bindingsRetrievable: true, plans: [] }
  const code = { id, provision: () => undefined, deprovision: () => undefined }
  return { ...resolve(offering, code, settings, {}), isPlaceholder: true, lateCalls: false }
}

export function toRetryPolicy(given: RetrySettings | undefined, fallback: RetryPolicy): RetryPolicy {
  if (given === undefined) return fallback
  return {
    initial: durationOr(fallback.initial, given.initial),
    factor: given.factor ?? fallback.factor,
    max: durationOr(fallback.max, given.max),
    attempts: given.attempts,
    for: given.for === undefined ? undefined : parseDuration(given.for),
  }
}

/** What authors cannot set for themselves is tried again as the broker's settings say. */
export function retryOf(service: ResolvedService, action: Action, { engine }: ReadSettings): RetryPolicy {
  return action === 'observe' || action === 'sweep' ? engine.retry : service.actions[action].retry
}

/** How long after a deletion its sweep looks again: longer than the longest call can take to land. */
export function sweepDelay({ callTimeout }: ResolvedService): number {
  return 2 * callTimeout
}

/** Settings name services by id or name, and all of them by a star. */
function isNamed({ id, name }: Offering, names: readonly string[]): boolean {
  return [id, name, '*'].some(each => names.includes(each))
}

function durationOr<Fallback extends number | undefined>(fallback: Fallback, given: Duration | undefined) {
  return given === undefined ? fallback : parseDuration(given)
}
