import type { BrokerDefinition } from '../author/broker-definition.ts'
import { checkDefinition } from '../author/check-definition.ts'
import { checkService } from '../author/check-service.ts'
import type { RetrySettings } from '../author/context.ts'
import type { ActionSettings, Service } from '../author/define-service.ts'
import { checkCatalog } from '../catalog/check-catalog.ts'
import { checkSource } from '../catalog/parameters.ts'
import { CatalogError, formatProblem, subjectOf } from '../catalog/problem.ts'
import type { Instance } from '../domain/instance.ts'
import type { AsyncMode } from '../domain/intent.ts'
import type { RetryPolicy } from '../domain/retry.ts'
import { messageOf } from '../engine/errors.ts'
import type { Offering, Plan } from '../protocol/offering.ts'
import { offeringShape } from '../protocol/offering-shape.ts'
import type { ReadSettings } from '../settings/settings.ts'
import { parseDuration } from '../shape/duration.ts'
import { isObject, type Path, type Place } from '../shape/place.ts'
import { planSchemas, readSchemas, type ServiceSchemas, withSchemas } from './service-schemas.ts'

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
  readonly plans: ReadonlyMap<string, { readonly plan: Plan; readonly schemas: ServiceSchemas }>
  /** The author's own, for what has a plan that left the catalog. */
  readonly schemas: ServiceSchemas
  /** Where it came from a registry. */
  readonly revisionId?: string
  /** Plan ids by plan id: where an update may lead. Absent: wherever the plan may be left at all. */
  readonly updatesTo?: ReadonlyMap<string, readonly string[]>
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

/** Offerings that stand in a catalog file, and where each part of them stands there. */
export interface DeclaredOfferings {
  readonly offerings: readonly Offering[]
  where(path: Path): Place | undefined
}

/**
 * Joins code and catalog by service id and refuses what could not work: every problem at once, each with its place, its
 * reason and its remedy.
 */
export async function resolveServices(
  definition: BrokerDefinition,
  declared: DeclaredOfferings,
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
  const schemas = pairs.map(({ service }, index) => {
    try {
      return service === undefined ? {} : readSchemas(service)
    } catch (error) {
      const remedy = 'give a JSON Schema, or a schema that can be written as one'
      problems.push({ ...at(index), problem: messageOf(error), remedy })
      return {}
    }
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
  const offerings = pairs.map(({ offering }, index) => withSchemas(offering, schemas[index] ?? {}))
  const checked = await checkCatalog(offerings, declared.where)
  problems.push(...checked.problems)
  for (const [index, { offering, service }] of pairs.entries()) {
    for (const found of checkService(offering, service)) problems.push({ ...at(index), ...found })
  }
  if (problems.length > 0) throw new CatalogError(problems, subject)

  const resolved = pairs.flatMap(({ service }, index) => {
    const offering = offerings[index]
    return service === undefined || offering === undefined
      ? []
      : [resolve(offering, service, settings, schemas[index] ?? {})]
  })
  const byId = new Map(resolved.map(service => [service.offering.id, service]))
  const find = (serviceId: string) => byId.get(serviceId)
  return {
    offerings,
    own: offerings,
    warnings: checked.warnings.map(formatProblem),
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
  const given = Object.fromEntries(
    catalogKeys.filter(key => service[key] !== undefined).map(key => [key, service[key]]),
  )
  return { instancesRetrievable: true, ...(service.bind === undefined ? {} : { bindingsRetrievable: true }), ...given }
}

export function resolve(
  offering: Offering,
  code: Service,
  settings: ReadSettings,
  schemas: ServiceSchemas,
): ResolvedService {
  const callTimeout = code.callTimeout === undefined ? settings.engine.callTimeout : parseDuration(code.callTimeout)
  const action = (name: SettableAction) => resolveAction(name, offering, code.actions?.[name] ?? {}, settings)
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
    callTimeout,
    observeEvery: code.observeEvery === undefined ? settings.engine.observeEvery : parseDuration(code.observeEvery),
    plans: new Map(offering.plans.map(plan => [plan.id, { plan, schemas: planSchemas(offering, plan, schemas) }])),
    schemas,
  }
}

/** An asynchronous binding that nobody can fetch is a binding nobody can use (BIND-21). */
function resolveAction(
  name: SettableAction,
  offering: Offering,
  given: ActionSettings,
  settings: ReadSettings,
): ResolvedAction {
  const mode: AsyncMode = name === 'bind' && offering.bindingsRetrievable !== true ? 'never' : (given.async ?? 'auto')
  return {
    mode,
    timeout: given.timeout === undefined ? settings.engine.timeouts[name] : parseDuration(given.timeout),
    retry: toRetryPolicy(given.retry, settings.engine.retry),
  }
}

export function toRetryPolicy(given: RetrySettings | undefined, fallback: RetryPolicy): RetryPolicy {
  if (given === undefined) return fallback
  return {
    initial: given.initial === undefined ? fallback.initial : parseDuration(given.initial),
    factor: given.factor ?? fallback.factor,
    max: given.max === undefined ? fallback.max : parseDuration(given.max),
    attempts: given.attempts,
    for: given.for === undefined ? undefined : parseDuration(given.for),
  }
}
