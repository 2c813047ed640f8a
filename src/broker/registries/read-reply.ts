import { setImmediate } from 'node:timers/promises'
import { checkBundle } from '../../bundle/check-bundle.ts'
import { formatMistake } from '../../bundle/mistakes.ts'
import type { BundleSpec } from '../../bundle/spec.ts'
import { groupBy } from '../../domain/catalog-state.ts'
import { harmOf, type Published } from '../../domain/harm.ts'
import type { ParsedBundle, RegistryReply, SeenBundle } from '../../domain/registry-reply.ts'
import { type FoundBundle, programKindOf, type Revision, revisionIdOf } from '../../domain/revision.ts'
import { versionWarning } from '../../domain/version-warning.ts'
import type { RevisionUse, StoredCatalog } from '../../marketplace.ts'
import type { Offering } from '../../protocol/offering.ts'
import type { RegistryAnswer } from '../../registry.ts'
import { count } from '../../shape/count.ts'
import { isError, isWarning, type Mistake } from '../../shape/mistake.ts'
import type { SpecCache } from './registered-catalog.ts'

export interface KnownParts {
  readonly stored: StoredCatalog
  readonly uses: readonly RevisionUse[]
  /** The offerings of the broker's own code. */
  readonly own: readonly Offering[]
  readonly specs: SpecCache
}

type Known = ReturnType<typeof createKnown>

/** What is known before anything is read anew. */
export function createKnown({ stored: { services, revisions }, uses, own, specs }: KnownParts) {
  const byId = new Map(revisions.map(revision => [revision.id, revision]))
  const instances = new Map<string, Map<string, number>>()
  for (const { revisionId, planId, instances: count } of uses) {
    const serviceId = byId.get(revisionId)?.serviceId ?? ''
    const plans = instances.get(serviceId) ?? new Map<string, number>()
    instances.set(serviceId, plans.set(planId, (plans.get(planId) ?? 0) + count))
  }
  const current = new Map<string, Revision>()
  for (const { serviceId, revisionId } of services) {
    const revision = byId.get(revisionId)
    if (revision !== undefined) current.set(serviceId, revision)
  }
  const shown = [...own, ...[...current.values()].map(({ offering }) => offering)]
  return {
    /** Who has a plan id. Names are joined with dashes, so plans of two services may get the same one. */
    plans: new Map(shown.flatMap(offering => offering.plans.map(plan => [plan.id, offering] as const))),
    /** By registry and what it calls the bundle. */
    stored: new Map(revisions.map(revision => [keyOf(revision.registry, revision.foundAs, revision), revision])),
    /** By service id: all that is offered now or in use. */
    revisions: groupBy(revisions, ({ serviceId }) => serviceId),
    /** By service id: what is offered now, and how many instances of each of its plans there are. */
    current,
    instances,
    specs,
    /** Of the broker's own code, by id and by name: nothing from a registry takes their place. */
    own: new Map(own.flatMap(offering => [offering.id, offering.name].map(key => [key, offering] as const))),
  }
}

/**
 * What a registry answered, with each spec read and judged. A spec that is stored already is not read again: a sync of
 * thousands that did not change costs next to nothing.
 */
export async function readReply(registry: string, answer: RegistryAnswer, known: Known): Promise<RegistryReply> {
  if (answer.kind === 'failed') return answer
  const found: SeenBundle[] = []
  for (const bundle of answer.found) {
    const same = known.stored.get(keyOf(registry, bundle.name, bundle))
    const judging =
      same !== undefined && same.source === bundle.source
        ? { bundle, parsed: toParsed(same.offering, same), spec: () => known.specs.find(same) }
        : await read(registry, bundle)
    found.push(judge(registry, judging, known))
  }
  return { ...answer, found }
}

function keyOf(
  registry: string,
  name: string,
  { image, tag, digest, runtime }: Pick<FoundBundle, 'image' | 'tag' | 'digest' | 'runtime'>,
): string {
  return JSON.stringify([registry, name, image, tag, digest, runtime])
}

/** A bundle whose spec was read, now or before. */
interface ReadBundle {
  readonly bundle: FoundBundle
  readonly parsed?: ParsedBundle
  readonly problems?: readonly string[]
  readonly warnings?: readonly string[]
  readonly spec?: () => BundleSpec | undefined
}

async function read(registry: string, bundle: FoundBundle): Promise<ReadBundle> {
  // Schemas are compiled, which takes its time: requests get their turn in between.
  await setImmediate()
  if (bundle.unreadable !== undefined) return { bundle, problems: [bundle.unreadable] }
  const folder = programKindOf(bundle) === 'folder' ? { path: bundle.image, shown: '', isRun: true } : undefined
  const checked = await checkBundle(bundle.source, { where: 'spec', registry, variant: bundle.variant, folder })
  const problems = tell(checked.problems.filter(isError))
  const warnings = tell(checked.problems.filter(isWarning))
  if (checked.bundle === undefined) return { bundle, problems, warnings }
  const { spec, offering } = checked.bundle
  if (bundle.withoutProgram !== undefined && spec.entrypoint === undefined)
    return { bundle, problems: [...problems, bundle.withoutProgram], warnings }
  const { bundleVersion } = spec
  return { bundle, parsed: toParsed(offering, { bundleVersion, warnings }), problems, spec: () => spec }
}

/** They are stored and shown: so many help an author, and a registry may have thousands of such bundles. */
const mostTold = 20

function tell(mistakes: readonly Mistake[]): string[] {
  const told = mistakes.slice(0, mostTold).map(formatMistake)
  const more = mistakes.length - mostTold
  return more > 0 ? [...told, `and ${more} more; "purser bundle lint" tells them`] : told
}

function toParsed(
  offering: Offering,
  { bundleVersion, warnings }: Pick<ParsedBundle, 'bundleVersion' | 'warnings'>,
): ParsedBundle {
  const { id: serviceId, name: fullName } = offering
  return { serviceId, fullName, bundleVersion, offering, ...(warnings && warnings.length > 0 && { warnings }) }
}

/** A spec can be readable and still not be fit to publish. */
function judge(registry: string, read: ReadBundle, known: Known): SeenBundle {
  const { bundle, parsed, problems: before } = read
  if (parsed === undefined) return { ...bundle, problems: before, warnings: read.warnings }
  const { offering } = parsed
  const problems = [...clashes(offering, known), ...harms(registry, { ...read, parsed }, known)]
  if (problems.length > 0) return { ...bundle, problems }
  for (const { id } of offering.plans) known.plans.set(id, offering)
  const { serviceId, bundleVersion, warnings = [] } = parsed
  const ofVersion = versionWarning({ ...bundle, bundleVersion }, known.revisions.get(serviceId) ?? [])
  return {
    ...bundle,
    parsed,
    problems: before,
    warnings: ofVersion === undefined ? warnings : [ofVersion, ...warnings],
  }
}

function clashes(offering: Offering, { own, plans }: Known): string[] {
  const clash = own.get(offering.id) ?? own.get(offering.name)
  if (clash !== undefined) {
    const name = JSON.stringify(clash.name)
    return [`the broker's own service ${name} has this id or name; rename the bundle or the registry`]
  }
  return offering.plans.flatMap(({ id, name }) => {
    const owner = plans.get(id)
    if (owner === undefined || owner.id === offering.id) return []
    return `its plan ${JSON.stringify(name)} gets the id of a plan of ${JSON.stringify(owner.name)}; rename one of them`
  })
}

/** What would take something away from live instances is not published: they keep what they have. */
function harms(
  registry: string,
  { bundle, parsed, spec }: ReadBundle & { readonly parsed: ParsedBundle },
  known: Known,
): string[] {
  const current = known.current.get(parsed.serviceId)
  const instances = known.instances.get(parsed.serviceId)
  if (current === undefined || instances === undefined) return []
  if (current.id === revisionIdOf(registry, parsed.fullName, bundle)) return []
  const before = publishedOf(current.offering, known.specs.find(current))
  const after = publishedOf(parsed.offering, spec?.())
  return harmOf(before, after, instances).map(
    ({ plan, instances: harmed, problem }) =>
      `not published, since it would harm ${count(harmed, 'instance')} of the plan ${JSON.stringify(plan)}: ${problem}`,
  )
}

function publishedOf(offering: Offering, spec: BundleSpec | undefined): Published {
  return { offering, updatesTo: spec && new Map(spec.plans.map(({ name, updatesTo }) => [name, updatesTo])) }
}
