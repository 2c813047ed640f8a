import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import type { Offering, Plan } from '../protocol/offering.ts'
import { fullName, planIdOf, serviceIdOf } from './names.ts'
import type { BundleParameter, BundleParameters, BundlePlan, BundleSpec } from './spec.ts'
import { toCreateSchema, toUpdateSchema } from './to-schema.ts'

/** Where a bundle was found. */
export interface FoundIn {
  /** The registry's name. */
  readonly registry: string
  /** Which one it is of several versions that are offered side by side. */
  readonly variant?: string
}

/** What the catalog shows of a bundle. */
export function toOffering(spec: BundleSpec, { registry, variant }: FoundIn): Offering {
  const name = fullName(registry, spec.name, variant)
  const bindable = spec.bindable || spec.plans.some(plan => plan.bindable === true)
  return {
    id: serviceIdOf(name),
    name,
    description: spec.description,
    bindable: spec.bindable,
    tags: spec.tags,
    metadata: structuredClone(withVariant(spec.metadata, variant)),
    instancesRetrievable: true,
    ...(bindable ? { bindingsRetrievable: true } : {}),
    planUpdateable: spec.plans.some(({ updatesTo }) => updatesTo.length > 0),
    plans: spec.plans.map(plan => toPlan(spec, plan, name)),
  }
}

/** Consoles show nothing but the display name: two of them should not look alike. */
function withVariant(metadata: JsonObject, variant: string | undefined): JsonObject {
  const { displayName } = metadata
  if (variant === undefined || typeof displayName !== 'string') return metadata
  return { ...metadata, displayName: `${displayName} (${variant})` }
}

/** An operation takes longer than its action: an image is pulled, a place is found, and what is left is collected. */
const aroundAction = 15 * 60_000

function toPlan(spec: BundleSpec, plan: BundlePlan, offeringName: string): Plan {
  const bindable = plan.bindable ?? spec.bindable
  const longest = Math.max(0, ...Object.values(spec.timeouts))
  return {
    id: planIdOf(offeringName, plan.name),
    name: plan.name,
    description: plan.description,
    metadata: withForms(plan, bindable),
    free: plan.free,
    ...(plan.bindable === undefined ? {} : { bindable: plan.bindable }),
    planUpdateable: plan.updatesTo.length > 0,
    schemas: {
      serviceInstance: {
        create: { parameters: toCreateSchema(plan.parameters) },
        update: { parameters: toUpdateSchema(plan.parameters) },
      },
      ...(bindable ? { serviceBinding: { create: { parameters: toCreateSchema(plan.bindParameters) } } } : {}),
    },
    ...(longest === 0 ? {} : { maximumPollingDuration: Math.ceil((longest + aroundAction) / 1000) }),
    ...(spec.bundleVersion === undefined ? {} : { maintenanceInfo: { version: spec.bundleVersion } }),
  }
}

/**
 * A plan's metadata with the forms that OpenShift's console shows: parameters in their order, neighbours of one display
 * group in a field set. JSON Schema of an author's own has no form: consoles make one themselves.
 */
function withForms(plan: BundlePlan, bindable: boolean): JsonObject {
  const own = isJsonObject(plan.metadata.schemas) ? plan.metadata.schemas : {}
  const { service_instance: instance, service_binding: binding } = own
  const parameters = listOf(plan.parameters)
  const updatable = parameters.filter(one => one.updatable)
  const schemas = filled({
    ...own,
    service_instance: filled({
      ...(isJsonObject(instance) && instance),
      ...formOf('create', parameters),
      ...formOf('update', updatable),
    }),
    service_binding: filled({
      ...(isJsonObject(binding) && binding),
      ...formOf('create', bindable ? listOf(plan.bindParameters) : []),
    }),
  })
  return structuredClone({ ...plan.metadata, schemas })
}

function listOf(parameters: BundleParameters): readonly BundleParameter[] {
  return parameters.kind === 'list' ? parameters.list : []
}

function formOf(method: string, list: readonly BundleParameter[]): JsonObject {
  return list.length === 0 ? {} : { [method]: { openshift_form_definition: toForm(list) } }
}

function toForm(list: readonly BundleParameter[]): readonly Json[] {
  const form: Json[] = []
  let open: { readonly group: string; readonly items: Json[] } | undefined
  for (const parameter of list) {
    const { displayGroup: group } = parameter
    if (group === undefined) open = undefined
    else if (open?.group !== group) {
      open = { group, items: [] }
      form.push({ title: group, type: 'fieldset', items: open.items })
    }
    const into = open?.items ?? form
    into.push(toFormItem(parameter))
  }
  return form
}

/** A secret that says nothing else is typed like a password. */
function toFormItem({ name, type, displayType, sensitive }: BundleParameter): Json {
  const shown = displayType ?? (sensitive && type === 'string' ? 'password' : undefined)
  return shown === undefined ? name : { key: name, type: shown }
}

function filled(fields: Readonly<Record<string, Json | undefined>>): JsonObject | undefined {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined)
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}
