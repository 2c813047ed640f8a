import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import { anything, asFlag, flag, semver, text } from '../shape/fields.ts'
import { quoted } from '../shape/place.ts'
import { convert, fallback, field, list, object, optional, type Read } from '../shape/shape.ts'
import { bindings } from './bindings-shape.ts'
import { resources, timeouts } from './limits-shape.ts'
import { manifestsShape } from './manifests-shape.ts'
import { camelCase } from './mistakes.ts'
import { label } from './parameter-shape.ts'
import { parameters } from './parameters-shape.ts'

const jsonMap = field<JsonObject, JsonObject>({ kind: 'other', rule: 'a map' }, value =>
  isJsonObject(value) ? value : undefined,
)

const planFields = object(
  {
    name: text({ noun: 'the name of a plan' }),
    description: label,
    // What the OSB API takes a plan for that does not say it.
    free: fallback(flag(), true),
    // As the spec says, where it is absent.
    bindable: optional(flag()),
    metadata: fallback(jsonMap, {}),
    parameters: fallback(parameters, []),
    bindParameters: fallback(parameters, []),
    // Names of the plans that an instance of this one can move to.
    updatesTo: fallback(list(text({ noun: 'a name under "updates_to"' })), []),
  },
  { noun: 'a plan' },
)

const plan = convert(planFields, ({ name, description, ...rest }, notes) => {
  if (name === undefined) return undefined
  const problem = `the plan ${quoted(name)} has no description, and its name is shown instead`
  if (description === undefined) notes.warning(`${problem}; describe it`, 'description')
  // Where something is missing in it, there is a mistake, and nobody sees more of the plan than its name.
  return { ...rest, name, description: description ?? name } as Read<typeof planFields> & {
    readonly description: string
  }
})

/** With unique names, and a graph that leads only to plans that exist: other ways are left out. */
const plans = convert(list(plan), (given, notes) => {
  if (given.length === 0) notes.error('it has no plans; give it at least one under "plans", with name and description')
  const names = new Set(given.map(plan => plan?.name))
  // Where a plan is broken itself, its name may be the one that others lead to.
  const isKnown = (target: string) => names.has(target) || names.has(undefined)
  const seen = new Set<string>()
  return given.flatMap((plan, index) => {
    if (plan === undefined) return []
    const { name, updatesTo = [] } = plan
    if (seen.has(name)) notes.error(`there is a second plan ${quoted(name)}; give each plan a name of its own`, index)
    seen.add(name)
    for (const [at, target] of updatesTo.entries()) {
      if (target === undefined || isKnown(target)) continue
      const problem = `"updates_to" leads to ${quoted(target)}, and no plan has that name`
      notes.warning(`${problem}: it has no effect; correct or remove it`, index, 'updatesTo', at)
    }
    const targets = updatesTo.flatMap(target =>
      target === undefined || target === name || !isKnown(target) ? [] : target,
    )
    return { ...plan, updatesTo: [...new Set(targets)] }
  })
})

const name = convert(text(), (given, notes) => {
  if (!/^[a-z0-9][a-z0-9._-]*$/.test(given))
    notes.warning(`the name ${quoted(given)} is hard to type; use small letters, digits, ".", "_" and "-"`)
  return given
})

const asyncWords = ['optional', 'required', 'unsupported'] as const
export type BundleAsync = (typeof asyncWords)[number]

const async = convert(anything<unknown>('a word'), (value, notes): BundleAsync => {
  const word = asyncWords.find(candidate => candidate === value)
  if (word === undefined) notes.warning(`"async" is taken as required; write one of ${asyncWords.join(', ')}`)
  return word ?? 'required'
})

/** Gates are kept as they are written, save for the one that is known. */
const alpha = convert(jsonMap, (gates, notes): JsonObject & { readonly dashboardRedirect?: boolean } => {
  const isRedirect = (key: string) => camelCase(key) === 'dashboardRedirect'
  const others = Object.entries(gates).filter(([key]) => !isRedirect(key))
  const spelling = Object.keys(gates).find(isRedirect)
  if (spelling === undefined) return Object.fromEntries(others)
  const dashboardRedirect = asFlag(gates[spelling])
  if (dashboardRedirect === undefined) notes.error(`"${spelling}" must be true or false; write it without quotes`)
  return { ...Object.fromEntries(others), dashboardRedirect }
})

/** Older bundles have it; nobody asks for it any more. */
const outdated = (key: string) =>
  convert(anything('a value'), (_, notes) =>
    notes.warning(`"${key}" has no effect: it follows from where the bundle was found; take it out`),
  )

/** What stands in a `bundle.yml` or `apb.yml`. */
export const specShape = object(
  {
    // The only version of the format that there is.
    version: text({
      rule: '1.0',
      allows: /^1(\.0){0,2}$/,
      remedy: 'write "version: 1.0", and the version of the bundle as "bundle_version"',
      noun: 'the version of the format',
    }),
    name,
    description: text(),
    bindable: fallback(flag(), false),
    async: fallback(async, 'optional'),
    tags: fallback(list(text({ noun: 'a tag' })), []),
    metadata: fallback(jsonMap, {}),
    plans: fallback(plans, []),
    alpha: fallback(alpha, {}),
    bundleVersion: optional(semver()),
    // What is run in place of the usual entry point. A bundle runs what it brings along, nothing else of the machine.
    entrypoint: optional(
      text({ rule: 'a path inside the bundle', remedy: 'write one such as bin/run.sh', allows: isInside }),
    ),
    // Objects of a cluster that it consists of, in place of a program.
    manifests: optional(manifestsShape),
    timeouts: fallback(timeouts, {}),
    bindings: fallback(bindings, {}),
    resources: fallback(resources, {}),
    image: optional(outdated('image')),
    id: optional(outdated('id')),
  },
  { noun: 'a spec' },
)

function isInside(path: string): boolean {
  return /\S/.test(path) && !path.startsWith('/') && !path.includes('\0') && !path.split(/[\\/]/).includes('..')
}
