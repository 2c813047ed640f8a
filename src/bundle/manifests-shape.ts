import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import { anything, duration, flag, json, text, wholeNumber } from '../shape/fields.ts'
import { convert, fallback, list, map, object, optional, type Read } from '../shape/shape.ts'
import { type BundleAction, forEachAction } from './actions.ts'

const identifier = /^[a-zA-Z_]\w*$/

const template = (noun: string) => json({ noun, remedy: 'write an object of Kubernetes, with apiVersion and kind' })

/** The three things that can be done with an object. */
export const objectModes = ['object', 'patch', 'read'] as const
export type ObjectMode = (typeof objectModes)[number]

/** `{ condition: Ready }` or an expression that is true. */
export type Readiness = string | { readonly condition: string; readonly status: string }

const readyWhen = convert(anything<Json>('an expression, or a condition, or a list of them'), (given, notes) => {
  const all: readonly Json[] = Array.isArray(given) ? given : [given]
  return all.flatMap((one, index): readonly Readiness[] => {
    if (typeof one === 'string' && one.trim() !== '') return [one]
    const { condition, status = 'True', ...rest } = isJsonObject(one) ? one : {}
    if (typeof condition === 'string' && Object.keys(rest).length === 0) return [{ condition, status: String(status) }]
    const problem = 'what it is ready by is neither an expression nor a condition'
    notes.error(`${problem}; write an expression, or { condition: Ready }`, ...(Array.isArray(given) ? [index] : []))
    return []
  })
})

const made = object(
  {
    name: text({
      noun: 'the name of an object',
      rule: 'a word that expressions can use',
      allows: identifier,
      remedy: 'use letters, digits and "_", beginning with a letter',
    }),
    when: optional(text({ noun: '"when"' })),
    object: optional(template('an object')),
    patch: optional(template('a patch')),
    read: optional(template('what is read')),
    labels: optional(json({ noun: '"labels"' })),
    shared: optional(text({ noun: '"shared"' })),
    force: fallback(flag(), false),
    readyWhen: fallback(readyWhen, []),
    failedWhen: optional(text({ noun: '"failed_when"' })),
    progress: optional(text({ noun: '"progress"' })),
    deadline: optional(duration('1s', '30d', { noun: 'the deadline' })),
  },
  { noun: 'an object' },
)

const objects = convert(list(made), (given, notes): readonly ManifestObject[] => {
  const seen = new Set<string>()
  return given.flatMap((one, index) => {
    if (one?.name === undefined) return []
    if (seen.has(one.name)) notes.error(`there is a second object "${one.name}"; rename one of them`, index)
    seen.add(one.name)
    const modes = objectModes.filter(mode => one[mode] !== undefined)
    const [mode] = modes
    if (mode === undefined || modes.length > 1) {
      notes.error(`"${one.name}" needs one of ${objectModes.join(', ')}; write what is made, changed or read`, index)
      return []
    }
    const { apiVersion, kind } = one[mode] ?? {}
    for (const [key, value] of Object.entries({ apiVersion, kind }))
      if (typeof value !== 'string' || value === '' || value.includes('${'))
        notes.error(`"${key}" must be a text without expressions: what is allowed goes by it; write it`, index, mode)
    if (mode === 'read' && one.shared !== undefined)
      notes.error('what is only read cannot be shared; take "shared" out', index, 'shared')
    if (mode !== 'read' && one.labels !== undefined)
      notes.error('"labels" look for what is read; write those of an object in its metadata', index, 'labels')
    const { object: _, patch: __, read: ___, ...rest } = one
    return { ...rest, mode, template: one[mode] } as unknown as ManifestObject
  })
})

/** One object of a service: what is made, or changed, or looked for, and how to know that it is ready. */
export interface ManifestObject extends Omit<Read<typeof made>, ObjectMode> {
  readonly mode: ObjectMode
  readonly template: JsonObject & { readonly apiVersion: string; readonly kind: string }
}

const lengths = map(wholeNumber(8, 256, { noun: 'the length of a generated text' }))

const fields = object(
  {
    namespace: fallback(text({ noun: '"namespace"' }), '${context.namespace}'),
    generate: fallback(lengths, {}),
    ...forEachAction(() => fallback(objects, [])),
    state: fallback(json({ noun: '"state"' }), {}),
    credentials: fallback(json({ noun: '"credentials"' }), {}),
    dashboardUrl: optional(text({ noun: '"dashboard_url"' })),
    observeEvery: optional(duration('10s', '1d', { noun: '"observe_every"' })),
    values: fallback(json({ noun: '"values"' }), {}),
  },
  { noun: 'the manifests' },
)

/** What a service makes in a cluster, by action. */
export const manifestsShape = convert(fields, (given, notes) => {
  if ((given.provision ?? []).length === 0)
    notes.error('its provision makes nothing; write its objects under "provision"')
  return given as Manifests
})

export type Manifests = Omit<Read<typeof fields>, BundleAction> &
  Readonly<Record<BundleAction, readonly ManifestObject[]>>
