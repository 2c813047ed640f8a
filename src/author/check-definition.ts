import { isStandardSchema } from '../catalog/standard-schema.ts'
import { offeringShape } from '../protocol/offering-shape.ts'
import { anything, code, decimal, duration, flag, judged, oneOf, text, wholeNumber } from '../shape/fields.ts'
import { explain, type FieldMistake, inCode, type Mistake } from '../shape/mistake.ts'
import { fromCode, isObject, type Path, showPath, valueAt } from '../shape/place.ts'
import { read } from '../shape/read.ts'
import { list, object, optional, type Rule, type Shape, unique } from '../shape/shape.ts'

/** All that is wrong with a definition, whoever wrote it: types are known to those who use TypeScript only. */
export function checkDefinition(definition: unknown): Mistake[] {
  return read(definitionShape, fromCode(definition)).mistakes.map(mistake => reword(definition, mistake))
}

const time = duration('0ms', '3650d')

const callSettings = {
  timeout: optional(time),
  retry: optional(
    object({
      initial: optional(time),
      factor: optional(decimal(1, 1000)),
      max: optional(time),
      attempts: optional(wholeNumber(1, 1_000_000)),
      for: optional(time),
    }),
  ),
}
const stepSettings = object(callSettings)
const actionSettings = object({ async: optional(oneOf(['auto', 'always', 'never'])), ...callSettings })

/** What is wrong with the settings of `ctx.step`. */
export function checkStepSettings(settings: unknown): string[] {
  const { mistakes } = read(stepSettings, fromCode(settings))
  return mistakes.map(mistake => `${showPath(mistake.path) || 'it'} ${explain(mistake)}`)
}

const bindingSettings = object(
  {
    lifetime: optional(duration('1s', '3650d')),
    renewBefore: optional(time),
    unbindExpired: optional(flag()),
  },
  {
    rules: [
      ({ lifetime = Number.POSITIVE_INFINITY, renewBefore = 0 }) =>
        renewBefore > lifetime && { path: ['renewBefore'], error: 'must not be longer than lifetime; make it shorter' },
    ],
  },
)

const settable = ['provision', 'update', 'deprovision', 'bind', 'unbind'] as const

const needed: readonly [key: string, needs: string][] = [
  ['upgradeState', 'state'],
  ['upgradeBindingState', 'bindingState'],
  ['bind', 'unbind'],
  ['unbind', 'bind'],
]

const serviceRules: readonly Rule<{ readonly actions?: object }>[] = [
  service =>
    Object.keys(service.actions ?? {})
      .filter(name => settable.some(known => known === name) && !has(service, name))
      .map(name => ({
        path: ['actions', name],
        error: `there are settings for ${name}, which the service does not have`,
      })),
  service =>
    needed
      .filter(([key, needs]) => has(service, key) && !has(service, needs))
      .map(([key, needs]) => ({ path: [key], error: `there is ${key} without ${needs}` })),
]

/** What the catalog shows is checked with the catalog: it may stand in a file. */
const catalogFields = Object.fromEntries(
  Object.keys(offeringShape.entries).map(key => [key, optional(anything<unknown>('a field of the catalog'))]),
)

const isSchema = (value: unknown) => isObject(value) || isStandardSchema(value)
const schema = optional(judged('a JSON Schema, or a schema of a validation library', isSchema))

const serviceShape = object(
  {
    ...catalogFields,
    id: text(),
    provision: code,
    deprovision: code,
    ...optionals(code, 'update', 'bind', 'unbind', 'observe', 'list'),
    ...optionals(code, 'fetchInstance', 'fetchBinding', 'upgradeState', 'upgradeBindingState'),
    parameters: schema,
    updateParameters: schema,
    bindParameters: schema,
    state: schema,
    bindingState: schema,
    actions: optional(object(optionals(actionSettings, ...settable))),
    callTimeout: optional(time),
    observeEvery: optional(time),
    concurrency: optional(wholeNumber(1, 10_000)),
    requiresApp: optional(flag()),
    bindings: optional(bindingSettings),
    hold: optional(flag()),
    emptyInstances: optional(flag()),
    dashboard: optional(
      judged("'redirect' or a function", value => value === 'redirect' || typeof value === 'function'),
    ),
  },
  { rule: 'what defineService returns', rules: serviceRules as never },
)

const hookShape = object({
  name: text(),
  actions: optional(list(oneOf([...settable, 'observe', 'sweep']))),
  ...optionals(code, 'before', 'after', 'error'),
})

const routeShape = object(
  {
    method: text({ rule: "a method in capital letters, such as 'GET'", allows: /^[A-Z]+$/ }),
    path: text({ rule: "a path such as '/files', or '/files/*'", allows: /^\/[^?#*]*(?<=\/)\*$|^\/[^?#*]*$/ }),
    bodyLimit: optional(wholeNumber(0, Number.MAX_SAFE_INTEGER)),
    handle: code,
  },
  {
    rules: [
      ({ path }) =>
        typeof path === 'string' &&
        isReserved(path) && { path: ['path'], error: `${path} belongs to the broker itself` },
    ],
  },
)

const definitionShape = object({
  services: list(serviceShape),
  catalog: optional(
    judged('the path of a file, or a list of offerings', value => typeof value === 'string' || Array.isArray(value)),
  ),
  hooks: optional(
    list(hookShape, { rules: [unique(hook => hook.name, 'name', 'a hook before it has the same name')] }),
  ),
  routes: optional(
    list(routeShape, {
      rules: [
        unique(({ method, path }) => `${method} ${path}`, 'path', 'a route before it has the same method and path'),
      ],
    }),
  ),
  presentCatalog: optional(code),
})

function optionals<S extends Shape, Key extends string>(shape: S, ...keys: readonly Key[]) {
  return Object.fromEntries(keys.map(key => [key, optional(shape)])) as Record<Key, ReturnType<typeof optional<S>>>
}

function has(service: object, key: string): boolean {
  return Reflect.get(service, key) !== undefined
}

/** Paths that the broker answers itself, also with the name of a platform before them: a route there would hide them. */
function isReserved(path: string): boolean {
  const [first, second] = path.split('/').slice(1)
  return (
    first === '*' ||
    ['v2', 'admin', 'console', 'healthz', 'readyz', 'metrics', 'dashboards'].includes(first ?? '') ||
    second === 'v2'
  )
}

const remedies: Readonly<Record<string, string>> = {
  actions: 'define the action, or remove its settings',
  upgradeState: 'add state, the schema that it makes old states fit',
  upgradeBindingState: 'add bindingState, the schema that it makes old states fit',
  bind: 'define unbind, which takes back what bind gave',
  unbind: 'define bind, or remove unbind',
  name: 'give each hook a name of its own: it names the checkpoints',
  path: 'choose another path',
}

function reword(definition: unknown, mistake: FieldMistake): Mistake {
  const { kind, path, rule, found } = mistake
  const inList = typeof path[1] === 'number'
  const rest = path.slice(inList ? 2 : 0)
  const name = `"${showPath(rest)}"`
  const about = { path, subject: label(definition, path) }
  const remedy = mistake.hint ?? (kind === 'rule' ? remedies[String(rest[0])] : undefined) ?? 'correct it'
  if (kind === 'missing' && rest.length > 0)
    return { ...about, problem: `${name} is missing`, remedy: `add ${name}: ${rule}` }
  if (kind === 'rule') return { ...about, problem: rule, remedy }
  if (kind === 'wrong' || kind === 'missing')
    return {
      ...about,
      problem: `${rest.length === 0 ? 'it' : name} must be ${inCode(rule)}, but is ${inCode(found)}`,
      remedy,
    }
  return { ...about, problem: `${name} ${mistake.problem}`, remedy: mistake.remedy }
}

/** `service "x"`, `hook "y"`, `route "GET /z"`. */
function label(definition: unknown, [list, index]: Path): string {
  if (typeof index !== 'number') return 'the broker'
  const item = valueAt(definition, [String(list), index])
  const { id, name, method, path } = isObject(item) ? item : {}
  const known = list === 'routes' && typeof path === 'string' ? `${method} ${path}` : (name ?? id)
  const kind = String(list).replace(/s$/, '')
  return typeof known === 'string' ? `${kind} ${JSON.stringify(known)}` : `${kind} number ${index + 1}`
}
