import { checkCatalog } from '../catalog/check-catalog.ts'
import { compileSchema } from '../catalog/compile-schema.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { Offering, Plan } from '../protocol/offering.ts'
import { isError, type Mistake } from '../shape/mistake.ts'
import { type BundleFolder, checkFolder } from './check-folder.ts'
import { compileManifests } from './manifest-templates.ts'
import { type BundlePlan, type BundleSpec, type ParsedSpec, parseBundleSpec } from './spec.ts'
import { type FoundIn, toOffering } from './to-offering.ts'

export interface CheckedBundle {
  /** Present where no problem is an error: it can be served as it is. */
  readonly bundle?: { readonly spec: BundleSpec; readonly offering: Offering }
  readonly program?: ParsedSpec['program']
  readonly problems: readonly Mistake[]
}

export interface BundlePlace extends FoundIn {
  /** What messages call the spec. */
  readonly where: string
  /** Where the bundle is a folder. */
  readonly folder?: BundleFolder
}

/** Whether a bundle can be offered and run: one judgement, of `purser bundle lint` and of every sync. */
export async function checkBundle(source: unknown, place: BundlePlace): Promise<CheckedBundle> {
  const parsed = parseBundleSpec(source, place.where)
  const { program } = parsed
  const { bundle, problems: ofSpec } = await checkSpec(parsed, place)
  const { folder } = place
  const ofFolder = folder === undefined ? [] : await checkFolder(folder, program)
  const problems = [...ofSpec, ...ofFolder]
  return ofFolder.some(isError) ? { program, problems } : { bundle, program, problems }
}

/**
 * All that `parseBundleSpec` finds, and what only shows in the catalog that the bundle leads to, which is wrong only with
 * schemas that an author wrote: those made from a list of parameters are valid, and its defaults were judged when it was read.
 */
async function checkSpec(
  { spec, problems: ofSpec, find }: ParsedSpec,
  place: BundlePlace,
): Promise<Omit<CheckedBundle, 'program'>> {
  if (spec === undefined) return { problems: ofSpec }
  const ofManifests = await checkManifests(spec, find)
  const problems = [...ofSpec, ...ofManifests]
  if (ofManifests.length > 0) return { problems }
  const offering = toOffering(spec, place)
  if (!spec.plans.some(isWritten)) return { bundle: { spec, offering }, problems }
  const plans = offering.plans.map((plan, index) => ({ ...plan, schemas: writtenSchemas(plan, spec.plans[index]) }))
  const { problems: ofCatalog } = await checkCatalog([{ ...offering, plans }])
  const found = ofCatalog.map(({ path: [, list, plan = 0, , resource], problem, remedy }): Mistake => {
    const parameters = resource === 'serviceBinding' ? 'bindParameters' : 'parameters'
    return { ...find(list === 'plans' ? [list, plan, parameters] : []), problem, remedy }
  })
  if (found.length === 0)
    for (const [index, { schemas }] of plans.entries()) {
      for (const [key, schema] of [
        ['parameters', schemas.serviceInstance?.create?.parameters],
        ['bindParameters', schemas.serviceBinding?.create?.parameters],
      ] as const)
        for (const name of schema === undefined ? [] : await unfitDefaults(schema))
          found.push({
            ...find(['plans', index, key]),
            problem: `the default of ${name} breaks its own schema`,
            remedy: 'correct one of them',
          })
    }
  const all = [...problems, ...found]
  return found.length > 0 ? { problems: all } : { bundle: { spec, offering }, problems: all }
}

async function checkManifests({ manifests }: BundleSpec, find: ParsedSpec['find']): Promise<readonly Mistake[]> {
  if (manifests === undefined) return []
  const { mistakes } = await compileManifests(manifests)
  return mistakes.map(({ path, problem, remedy }) => ({ ...find(path), problem, remedy }))
}

function isWritten({ parameters, bindParameters }: BundlePlan): boolean {
  return parameters.kind === 'schema' || bindParameters.kind === 'schema'
}

function writtenSchemas({ schemas }: Plan, plan: BundlePlan | undefined): NonNullable<Plan['schemas']> {
  return {
    serviceInstance: plan?.parameters.kind === 'schema' ? schemas?.serviceInstance : undefined,
    serviceBinding: plan?.bindParameters.kind === 'schema' ? schemas?.serviceBinding : undefined,
  }
}

/** Whatever is wrong below the top level of parameters that were empty is wrong with a default. */
async function unfitDefaults(schema: JsonObject): Promise<readonly string[]> {
  const errors = (await compileSchema(schema))({})
  const names = errors.map(({ instancePath }) => instancePath.split('/')[1]).filter(name => name !== undefined)
  return [...new Set(names)]
}
