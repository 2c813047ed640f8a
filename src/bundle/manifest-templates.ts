import { type Compile, type Expression, ExpressionError, loadExpressions } from '../expression/expression.ts'
import { compileTemplate, type Template } from '../expression/template.ts'
import type { Json } from '../protocol/json.ts'
import type { Path } from '../shape/place.ts'
import { type BundleAction, bundleActions, forEachAction } from './actions.ts'
import type { ManifestObject, Manifests } from './manifests-shape.ts'

/** What expressions know. The reference is docs/reference/manifests.md. */
const variables = [
  'action',
  'instance',
  'binding',
  'service',
  'plan',
  'parameters',
  'bindParameters',
  'context',
  'state',
  'generated',
  'values',
  'secrets',
  'objects',
  // In `ready_when`, `failed_when` and `progress`: the object itself, as the cluster has it.
  'object',
]

export interface CompiledObject extends Pick<ManifestObject, 'name' | 'mode' | 'force' | 'deadline'> {
  readonly apiVersion: string
  readonly kind: string
  readonly template: Template
  readonly labels?: Template
  readonly when?: Expression
  readonly shared?: Template
  readonly readyWhen: readonly (Expression | { readonly condition: string; readonly status: string })[]
  readonly failedWhen?: Expression
  readonly progress?: Template
}

export interface CompiledManifests extends Pick<Manifests, 'generate' | 'values' | 'observeEvery'> {
  readonly namespace: Template
  readonly actions: Readonly<Record<BundleAction, readonly CompiledObject[]>>
  readonly state: Template
  readonly credentials: Template
  readonly dashboardUrl?: Template
}

export interface ManifestMistake {
  /** From the spec on. */
  readonly path: Path
  readonly problem: string
  readonly remedy?: string
}

/** Compiles every expression, and finds everything that is wrong with them at once. */
export async function compileManifests(
  manifests: Manifests,
): Promise<{ readonly compiled: CompiledManifests; readonly mistakes: readonly ManifestMistake[] }> {
  const compile = await loadExpressions(variables)
  const mistakes: ManifestMistake[] = []
  const compiler = createCompiler(compile, mistakes)
  const { template, expression } = compiler
  const known = new Set<string>()
  const checkReads = (path: Path, reads: readonly string[], names: ReadonlySet<string>) => {
    for (const name of reads)
      if (!names.has(name))
        mistakes.push({
          path,
          problem: `it reads the object "${name}", which is not made or read before it`,
          remedy: 'correct the name, or the order',
        })
  }
  const compileObjects = (action: BundleAction): readonly CompiledObject[] => {
    // What a binding or a later action makes may use what the instance has.
    const names = new Set(action === 'provision' ? [] : known)
    return manifests[action].map((given, index) => {
      const path = ['manifests', action, index]
      const { name, mode, force, deadline } = given
      const made: CompiledObject = {
        ...{ name, mode, force, deadline, apiVersion: given.template.apiVersion, kind: given.template.kind },
        template: template(given.template, [...path, mode]),
        labels: given.labels && template(given.labels, [...path, 'labels']),
        when: given.when === undefined ? undefined : expression(given.when, [...path, 'when']),
        shared: given.shared === undefined ? undefined : template(given.shared, [...path, 'shared']),
        readyWhen: given.readyWhen.flatMap(one =>
          typeof one === 'string' ? (expression(one, [...path, 'readyWhen']) ?? []) : one,
        ),
        failedWhen: given.failedWhen === undefined ? undefined : expression(given.failedWhen, [...path, 'failedWhen']),
        progress: given.progress === undefined ? undefined : template(given.progress, [...path, 'progress']),
      }
      const before = [made.template, made.labels, made.when, made.shared].flatMap(each => each?.reads('objects') ?? [])
      checkReads(path, before, names)
      if (action !== 'provision' && known.has(name))
        mistakes.push({ path, problem: `the provision has an object "${name}" too`, remedy: 'rename one of them' })
      names.add(name)
      if (action === 'provision') known.add(name)
      return made
    })
  }
  const actions = forEachAction(() => [] as readonly CompiledObject[])
  for (const action of bundleActions) actions[action] = compileObjects(action)
  const ofBinding = new Set([...known, ...actions.bind.map(({ name }) => name)])
  const whole = {
    namespace: template(manifests.namespace, ['manifests', 'namespace']),
    state: template(manifests.state, ['manifests', 'state']),
    credentials: template(manifests.credentials, ['manifests', 'credentials']),
    dashboardUrl:
      manifests.dashboardUrl === undefined
        ? undefined
        : template(manifests.dashboardUrl, ['manifests', 'dashboardUrl']),
  }
  for (const [key, { reads }] of Object.entries(whole).flatMap(([key, one]) => (one ? [[key, one] as const] : [])))
    checkReads(['manifests', key], reads('objects'), key === 'credentials' ? ofBinding : known)
  const { generate, values, observeEvery } = manifests
  return { compiled: { ...whole, actions, generate, values, observeEvery }, mistakes }
}

function createCompiler(compile: Compile, mistakes: ManifestMistake[]) {
  return {
    template(value: Json, path: Path): Template {
      const { template, mistakes: found } = compileTemplate(value, compile)
      for (const one of found) mistakes.push({ problem: one.problem, path: [...path, ...one.path] })
      return template
    },
    expression(text: string, path: Path): Expression | undefined {
      try {
        return compile(text)
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error
        mistakes.push({ path, problem: error.message })
        return undefined
      }
    },
  }
}
