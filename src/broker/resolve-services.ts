import type { RetrySettings } from '../author/context.ts'
import type { ActionSettings, Service } from '../author/define-service.ts'
import { checkCatalog } from '../catalog/check-catalog.ts'
import { createParameterSchema, type ParameterSchema, toUpdateSchema } from '../catalog/parameters.ts'
import { CatalogError, type CatalogProblem, formatProblem } from '../catalog/problem.ts'
import type { Instance } from '../domain/instance.ts'
import type { AsyncMode } from '../domain/intent.ts'
import type { RetryPolicy } from '../domain/retry.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { Offering, Plan } from '../protocol/offering.ts'
import { isBindable } from '../protocol/offering.ts'
import { offeringShape } from '../protocol/offering-shape.ts'
import type { ReadSettings } from '../settings/settings.ts'
import { parseDuration } from '../shape/duration.ts'

export type SettableAction = 'provision' | 'update' | 'deprovision' | 'bind' | 'unbind'

export interface ResolvedAction {
  readonly mode: AsyncMode
  readonly timeoutMs: number
  readonly retry: RetryPolicy
}

/** A service as the broker runs it: its catalog entry, its code, and every setting with its default applied. */
export interface ResolvedService {
  readonly offering: Offering
  readonly code: Service
  readonly actions: Readonly<Record<SettableAction, ResolvedAction>>
  readonly callTimeoutMs: number
  readonly observeEveryMs: number
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
  /** Another list where it has changed. */
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
  where(path: readonly (string | number)[]): string | undefined
}

/**
 * Joins code and catalog by service id and refuses what could not work: every problem at once, each with its place, its
 * reason and its remedy.
 */
export async function resolveServices(
  services: readonly Service[],
  declared: DeclaredOfferings,
  settings: ReadSettings,
): Promise<ServiceIndex> {
  const problems: CatalogProblem[] = []
  const pairs = pair(services, declared.offerings)
  const schemas = pairs.map(({ service }, index) => {
    try {
      return service === undefined ? {} : readSchemas(service)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      problems.push(problem(index, service?.id, reason, 'give a JSON Schema, or a schema that can be written as one'))
      return {}
    }
  })
  const offerings = pairs.map(({ offering }, index) => withSchemas(offering, schemas[index] ?? {}))
  const checked = await checkCatalog(offerings, declared.where)
  problems.push(...checked.problems)
  pairs.forEach(({ offering, service }, index) => {
    problems.push(...checkDriver(index, offering, service, declared))
  })
  if (problems.length > 0) throw new CatalogError(problems)

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

export interface ServiceSchemas {
  readonly create?: ParameterSchema<unknown>
  readonly update?: ParameterSchema<unknown>
  /** The update schema was made from the create schema: what an update leads to is judged by the latter. */
  readonly updateDerived?: boolean
  readonly bind?: ParameterSchema<unknown>
}

function readSchemas(service: Service): ServiceSchemas {
  const create = service.parameters === undefined ? undefined : createParameterSchema(service.parameters)
  const updateDerived = service.updateParameters === undefined && create !== undefined && service.update !== undefined
  const update = updateDerived
    ? toUpdateSchema(create)
    : service.updateParameters === undefined
      ? undefined
      : createParameterSchema(service.updateParameters)
  const bind = service.bindParameters === undefined ? undefined : createParameterSchema(service.bindParameters)
  return {
    create,
    ...(update === undefined ? {} : { update, updateDerived }),
    bind,
  }
}

/** The service's schemas stand in every plan that has none of its own. */
function withSchemas(offering: Partial<Offering>, schemas: ServiceSchemas): Offering {
  const plans = Array.isArray(offering.plans)
    ? offering.plans.map(plan => planWithSchemas(offering, plan, schemas))
    : []
  return { ...(offering as Offering), ...(offering.plans === undefined ? {} : { plans }) }
}

function planWithSchemas(offering: Partial<Offering>, plan: Plan, { create, update, bind }: ServiceSchemas): Plan {
  if (typeof plan !== 'object' || plan === null) return plan
  const own = plan.schemas
  const bindable = plan.bindable ?? offering.bindable
  const serviceInstance = {
    ...(create === undefined ? {} : { create: { parameters: create.jsonSchema } }),
    ...(update === undefined ? {} : { update: { parameters: update.jsonSchema } }),
    ...own?.serviceInstance,
  }
  const serviceBinding = {
    ...(bind === undefined || bindable !== true ? {} : { create: { parameters: bind.jsonSchema } }),
    ...own?.serviceBinding,
  }
  const schemas = {
    ...own,
    ...(Object.keys(serviceInstance).length === 0 ? {} : { serviceInstance }),
    ...(Object.keys(serviceBinding).length === 0 ? {} : { serviceBinding }),
  }
  return Object.keys(schemas).length === 0 ? plan : { ...plan, schemas }
}

/** A plan nobody can provision, bind or read must not be offered. */
function checkDriver(
  index: number,
  offering: Partial<Offering>,
  service: Service | undefined,
  declared: DeclaredOfferings,
): CatalogProblem[] {
  const place = index < declared.offerings.length ? declared.where([index]) : undefined
  if (service === undefined)
    return [
      problem(index, offering.id, 'its plans have no driver', 'define a service with this id in the broker module'),
    ]
  const problems: CatalogProblem[] = []
  const plans = Array.isArray(offering.plans) ? offering.plans : []
  const bindable = plans.some(plan => (plan?.bindable ?? offering.bindable) === true)
  if (bindable && (service.bind === undefined || service.unbind === undefined))
    problems.push(
      problem(
        index,
        service.id,
        'it is bindable but has no bind and unbind',
        'define both, or say bindable: false',
        place,
      ),
    )
  if (service.actions?.bind?.async === 'always' && offering.bindingsRetrievable !== true)
    problems.push(
      problem(
        index,
        service.id,
        'its bindings are asynchronous but cannot be fetched',
        'say bindingsRetrievable: true',
        place,
      ),
    )
  return problems
}

function problem(
  index: number,
  id: string | undefined,
  reason: string,
  remedy: string,
  place?: string,
): CatalogProblem {
  const service = `service "${id ?? index}"`
  return { path: [index], location: place === undefined ? service : `${place}: ${service}`, reason, remedy }
}

export function resolve(
  offering: Offering,
  code: Service,
  settings: ReadSettings,
  schemas: ServiceSchemas,
): ResolvedService {
  const callTimeoutMs = code.callTimeout === undefined ? settings.engine.callTimeout : parseDuration(code.callTimeout)
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
    callTimeoutMs,
    observeEveryMs: code.observeEvery === undefined ? settings.engine.observeEvery : parseDuration(code.observeEvery),
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
    timeoutMs: given.timeout === undefined ? settings.engine.timeouts[name] : parseDuration(given.timeout),
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
    ...(given.for === undefined ? {} : { forMs: parseDuration(given.for) }),
  }
}

/** A plan's own schema is in force for it; the service's schema keeps its author's types and refinements. */
function planSchemas(offering: Offering, plan: Plan, service: ServiceSchemas): ServiceSchemas {
  const pick = (advertised: JsonObject | undefined, own: ParameterSchema<unknown> | undefined) =>
    advertised === undefined || advertised === own?.jsonSchema ? own : createParameterSchema(advertised)
  const create = pick(plan.schemas?.serviceInstance?.create?.parameters, service.create)
  const update = pick(plan.schemas?.serviceInstance?.update?.parameters, service.update)
  const bind = isBindable(offering, plan)
    ? pick(plan.schemas?.serviceBinding?.create?.parameters, service.bind)
    : undefined
  return {
    create,
    ...(update === undefined
      ? {}
      : { update, updateDerived: update === service.update && service.updateDerived === true }),
    bind,
  }
}
