import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import type { BundleParameter, BundleParameters, BundlePlan } from './spec.ts'

/**
 * A plan's metadata with the forms that OpenShift's console shows: parameters in their order, neighbours of one display
 * group in a field set. JSON Schema of an author's own has no form: consoles make one themselves.
 */
export function withForms(plan: BundlePlan, bindable: boolean): JsonObject {
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
