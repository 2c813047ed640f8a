import { checkCatalog } from '../catalog/check-catalog.ts'
import { compileSchema } from '../catalog/compile-schema.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { Offering } from '../protocol/offering.ts'
import { camelCase, type SpecProblem, toProblem } from './reading.ts'
import { type Item, readSource } from './source.ts'
import { type BundleSpec, parseBundleSpec } from './spec.ts'
import { toOffering } from './to-offering.ts'

export interface CheckedBundle {
  /** Present where no problem is an error: it can be served as it is. */
  readonly bundle?: { readonly spec: BundleSpec; readonly offering: Offering }
  readonly problems: readonly SpecProblem[]
}

/** All that `parseBundleSpec` finds, and what only shows in the catalog that the bundle leads to: its schemas compiled. */
export async function checkBundle(
  source: unknown,
  { where, registry }: { readonly where: string; readonly registry: string },
): Promise<CheckedBundle> {
  const { spec, problems } = parseBundleSpec(source, where)
  if (spec === undefined) return { problems }
  const offering = toOffering(spec, { registry })
  const found: SpecProblem[] = []
  // The source is read again only where there is something to be found in it.
  let find: Finder | undefined
  const note = (plan: number, resource: string, problem: string) => {
    find ??= createFinder(source)
    const { path, line } = find(['plans', plan, resource === 'serviceBinding' ? 'bindParameters' : 'parameters'])
    found.push(toProblem({ severity: 'error', where, path, line, problem }))
  }
  const report = await checkCatalog([offering])
  for (const { path, problem, remedy } of report.problems) {
    const [, list, plan, , resource] = path
    if (list === 'plans' && typeof plan === 'number') note(plan, String(resource), `${problem}; ${remedy}`)
    else found.push(toProblem({ severity: 'error', where, path: [], problem: `${problem}; ${remedy}` }))
  }
  if (found.length === 0)
    for (const [index, { schemas }] of offering.plans.entries()) {
      for (const [resource, schema] of [
        ['serviceInstance', schemas?.serviceInstance?.create?.parameters],
        ['serviceBinding', schemas?.serviceBinding?.create?.parameters],
      ] as const)
        for (const name of schema === undefined ? [] : await unfitDefaults(schema))
          note(index, resource, `the default of ${name} breaks its own schema; correct one of them`)
    }
  const all = [...problems, ...found]
  return found.length > 0 ? { problems: all } : { bundle: { spec, offering }, problems: all }
}

/** Whatever is wrong below the top level of parameters that were empty is wrong with a default. */
async function unfitDefaults(schema: JsonObject): Promise<readonly string[]> {
  const errors = (await compileSchema(schema))({})
  const names = errors.map(({ instancePath }) => instancePath.split('/')[1]).filter(name => name !== undefined)
  return [...new Set(names)]
}

/** The nearest place in the source to a path in the code's spelling. */
type Finder = (path: readonly (string | number)[]) => Pick<Item, 'path' | 'line'>

function createFinder(source: unknown): Finder {
  const read = readSource(source)
  if (!read.ok) return path => ({ path })
  return path => {
    let at = read.root
    for (const part of path) {
      const keys = typeof at.value === 'object' && at.value !== null ? Object.keys(at.value) : []
      const key = typeof part === 'number' ? part : keys.find(written => camelCase(written) === part)
      const next = key === undefined ? undefined : read.child(at, key)
      if (next === undefined) break
      at = next
    }
    return at
  }
}
