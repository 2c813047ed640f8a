import type { Service } from '../author/define-service.ts'
import { checkAdvertised } from '../catalog/check-schemas.ts'
import {
  createParameterSchema,
  type ParameterSchema,
  type ParameterSource,
  toUpdateSchema,
} from '../catalog/parameters.ts'
import { isStandardSchema } from '../catalog/standard-schema.ts'
import { BrokerError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/json.ts'
import { isBindable, type Offering, type Plan } from '../protocol/offering.ts'
import { isJson } from '../shape/check-json.ts'
import type { Mistake } from '../shape/mistake.ts'

export interface ServiceSchemas {
  readonly create?: ParameterSchema<unknown>
  readonly update?: ParameterSchema<unknown>
  /** The update schema was made from the create schema: what an update leads to is judged by the latter. */
  readonly updateDerived?: boolean
  readonly bind?: ParameterSchema<unknown>
}

export function readSchemas(service: Service): ServiceSchemas {
  const create = readSchema(service, 'parameters')
  const updateDerived = service.updateParameters === undefined && create !== undefined && service.update !== undefined
  const update = updateDerived ? toUpdateSchema(create) : readSchema(service, 'updateParameters')
  return { create, update, updateDerived: update && updateDerived, bind: readSchema(service, 'bindParameters') }
}

function readSchema(service: Service, key: 'parameters' | 'updateParameters' | 'bindParameters') {
  const source: ParameterSource | undefined = service[key]
  if (source === undefined) return undefined
  if (!isStandardSchema(source) && !isJson(source))
    throw new Error(`"${key}" is neither JSON Schema nor a schema of a library that has Standard Schema`)
  return createParameterSchema(source)
}

/** What is wrong with the schemas of a service, whichever of its plans they stand in. */
export async function checkServiceSchemas(schemas: ServiceSchemas, report: (found: Found) => void): Promise<void> {
  const { create, update, updateDerived, bind } = schemas
  const named = { parameters: create, updateParameters: updateDerived ? undefined : update, bindParameters: bind }
  for (const [key, schema] of Object.entries(named))
    if (schema !== undefined)
      await checkAdvertised(schema.jsonSchema, (what, remedy, severity) =>
        report({ severity, problem: `"${key}" ${what}`, remedy }),
      )
}

type Found = Pick<Mistake, 'severity' | 'problem' | 'remedy'>

/** The service's schemas stand in every plan that has none of its own. */
export function withSchemas(offering: Partial<Offering>, schemas: ServiceSchemas): Offering {
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

/** A plan's own schema is in force for it; the service's schema keeps its author's types and refinements. */
export function planSchemas(offering: Offering, plan: Plan, service: ServiceSchemas): ServiceSchemas {
  const pick = (advertised: JsonObject | undefined, own: ParameterSchema<unknown> | undefined) =>
    advertised === undefined || advertised === own?.jsonSchema ? own : createParameterSchema(advertised)
  const create = pick(plan.schemas?.serviceInstance?.create?.parameters, service.create)
  const update = pick(plan.schemas?.serviceInstance?.update?.parameters, service.update)
  const bind = isBindable(offering, plan)
    ? pick(plan.schemas?.serviceBinding?.create?.parameters, service.bind)
    : undefined
  return { create, update, updateDerived: update && update === service.update && service.updateDerived, bind }
}

/**
 * Checks now and complains later: a decision asks for the parameters only after every check that comes before them. The
 * complaint names fields and rules, never values.
 */
export async function checkParameters(
  schema: ParameterSchema<unknown> | undefined,
  input: JsonObject,
): Promise<() => JsonObject> {
  const checked = schema === undefined ? { ok: true as const, value: input } : await schema.check(input)
  return () => {
    if (checked.ok) return checked.value
    throw new BrokerError('InvalidParameters', `The parameters are not valid: ${checked.problems.join('; ')}.`)
  }
}
