import { count } from '../shape/count.ts'
import { type CatalogState, groupBy, type RegistryState } from './catalog-state.ts'
import { type FoundBundle, type Revision, revisionIdOf } from './revision.ts'

/** What a spec leads to. */
export type ParsedBundle = Pick<Revision, 'serviceId' | 'fullName' | 'bundleVersion' | 'offering' | 'warnings'>

/** A bundle that a registry listed, and what reading its spec gave. */
export interface SeenBundle extends FoundBundle {
  /** Absent where the spec cannot be used: it does not parse, or its publication was refused. */
  readonly parsed?: ParsedBundle
  readonly problems?: readonly string[]
  /** What is wrong with it, and does not keep it from being offered. */
  readonly warnings?: readonly string[]
}

/**
 * `complete`: all that there is, so what is missing is gone. `partial`: something could not be read, and `problems` names
 * it. `failed`: it could not be listed; nothing is known. Only a complete answer says that anything is gone. A complete
 * answer may have problems too: what they are about is known to be of no use.
 */
export type RegistryAnswer<Bundle = FoundBundle> =
  | {
      readonly kind: 'complete' | 'partial'
      readonly found: readonly Bundle[]
      readonly problems: readonly string[]
    }
  | { readonly kind: 'failed'; readonly problem: string }

/** The same when the specs have been read. */
export type RegistryReply = RegistryAnswer<SeenBundle>

export interface ReconcileSettings {
  /** Failures in a row after which the unused specs of a registry are retired. Absent: however many. */
  readonly failureLimit?: number
  /** The same after so many milliseconds without an answer. */
  readonly retireAfter: number
  /** How often in a row a registry has to answer that it has nothing at all, before what it offered is retired. */
  readonly emptyAfter: number
}

/** Why the unused specs of a failing registry are retired. */
export type Lapse = 'failures' | 'silence'

/** A registry's next row. A reply that is reconciled twice (the same `now`) is counted once. */
function nextRegistryState(
  name: string,
  previous: RegistryState | undefined,
  reply: RegistryReply,
  { now, settings }: { readonly now: number; readonly settings: ReconcileSettings },
): RegistryState {
  if (reply.kind !== 'failed') {
    const warnings = sayings(reply.found, bundle => bundle.warnings).slice(0, shownProblems)
    const answered = { name, checkedAt: now, lastAnswerAt: now, failures: 0, ...(warnings.length > 0 && { warnings }) }
    if (reply.kind === 'partial')
      return withProblems({ ...answered, lastCompleteAt: previous?.lastCompleteAt, partial: true }, problemsOf(reply))
    const { emptyAnswers = 0 } = previous ?? {}
    const counted = emptyAnswers > 0 && previous?.checkedAt === now
    const empty = reply.found.length === 0 ? { emptyAnswers: emptyAnswers + (counted ? 0 : 1) } : {}
    return withProblems({ ...answered, lastCompleteAt: now, ...empty }, problemsOf(reply))
  }
  const counted = previous !== undefined && previous.failures > 0 && previous.checkedAt === now
  return {
    name,
    checkedAt: now,
    lastAnswerAt: previous?.lastAnswerAt,
    lastCompleteAt: previous?.lastCompleteAt,
    partial: previous?.partial,
    failures: (previous?.failures ?? 0) + (counted ? 0 : 1),
    silentSince: previous?.silentSince ?? silenceStart(previous?.lastAnswerAt, now, settings),
    lastProblem: reply.problem,
    ...(previous?.warnings && { warnings: previous.warnings }),
  }
}

function lapseOf(state: RegistryState, now: number, settings: ReconcileSettings): Lapse | undefined {
  if (state.failures === 0) return undefined
  if (settings.failureLimit !== undefined && state.failures >= settings.failureLimit) return 'failures'
  if (state.silentSince !== undefined && now - state.silentSince >= settings.retireAfter) return 'silence'
  return undefined
}

/**
 * Silence counts from the last answer. Where that is longer ago than the limit already at the first failure, nobody asked
 * in between (the broker was down, say), and one failure must not empty the catalog: then it counts from here.
 */
function silenceStart(lastAnswerAt: number | undefined, now: number, settings: ReconcileSettings): number {
  return lastAnswerAt !== undefined && now - lastAnswerAt < settings.retireAfter ? lastAnswerAt : now
}

/** Enough for operators to read all of them, and not more than a row of the ledger should hold. */
const shownProblems = 1000

/** Adds what else of the last answer could not be used. */
export function withProblems(state: RegistryState, more: readonly string[]): RegistryState {
  if (more.length === 0) return state
  const problems = [...(state.problems ?? []), ...more]
  const others = problems.length === 1 ? '' : ` (and ${problems.length - 1} more)`
  return { ...state, lastProblem: `${problems[0]}${others}`, problems: problems.slice(0, shownProblems) }
}

function problemsOf({ found, problems }: Exclude<RegistryReply, { readonly kind: 'failed' }>): readonly string[] {
  return [...problems, ...sayings(found, bundle => bundle.problems)]
}

function sayings(found: readonly SeenBundle[], of: (bundle: SeenBundle) => readonly string[] | undefined): string[] {
  return found.flatMap(bundle => (of(bundle) ?? []).map(said => `${bundle.name}: ${said}`)).sort()
}

/** One configured registry in one run. */
export interface Source {
  readonly name: string
  /** Its place in the configuration: of two specs with one name the earlier registry's is offered. */
  readonly order: number
  /** Absent: not asked this time. */
  readonly reply?: RegistryReply
  /** Its next row, where it was asked. */
  readonly state?: RegistryState
  /** Set: it has failed for so long, or so often, that its unused specs are retired. */
  readonly lapse?: Lapse
  /** It says that it has nothing at all, which is not believed yet: an empty folder may be one that is not mounted. */
  readonly isDoubted: boolean
  /** The names of the specs that it lists and that cannot be used. They still exist, so they must not be retired. */
  readonly unusable: ReadonlySet<string>
}

/** A usable spec in one registry's answer. */
export interface Sighting {
  readonly source: Source
  readonly bundle: SeenBundle & Required<Pick<SeenBundle, 'parsed'>>
  readonly revisionId: string
}

export function sourcesOf(
  registries: readonly { readonly name: string; readonly answer?: RegistryReply }[],
  stored: CatalogState,
  now: number,
  settings: ReconcileSettings,
): ReadonlyMap<string, Source> {
  const states = new Map(stored.registries.map(state => [state.name, state]))
  const offered = groupBy(
    stored.services.filter(({ retiredAt }) => retiredAt === undefined),
    ({ registry }) => registry,
  )
  return new Map(
    registries.map(({ name, answer }, order): [string, Source] => {
      if (answer === undefined) return [name, { name, order, isDoubted: false, unusable: new Set() }]
      const state = nextRegistryState(name, states.get(name), answer, { now, settings })
      const lapse = lapseOf(state, now, settings)
      const doubts = doubtsOf(state, offered.get(name)?.length ?? 0, settings)
      const unusable = new Set(foundIn(answer).flatMap(bundle => (bundle.parsed === undefined ? [bundle.name] : [])))
      const asked = { reply: answer, state: withProblems(state, doubts), lapse, isDoubted: doubts.length > 0 }
      return [name, { name, order, ...asked, unusable }]
    }),
  )
}

function doubtsOf(
  { emptyAnswers: empty = 0 }: RegistryState,
  offered: number,
  { emptyAfter }: ReconcileSettings,
): string[] {
  if (empty === 0 || empty >= emptyAfter || offered === 0) return []
  return [
    `it has nothing at all any more (answer ${empty} of ${emptyAfter} in a row), and ${count(offered, 'service')} of it would leave the catalog with answer ${emptyAfter}; if that is a mistake, such as a volume that is not mounted, mend it`,
  ]
}

/** Every usable spec of every answer, by service. */
export function sightingsOf(sources: Iterable<Source>): ReadonlyMap<string, readonly Sighting[]> {
  const sightings: Sighting[] = []
  for (const source of sources)
    for (const { parsed, ...bundle } of foundIn(source.reply)) {
      if (parsed === undefined) continue
      const revisionId = revisionIdOf(source.name, parsed.fullName, bundle)
      sightings.push({ source, bundle: { ...bundle, parsed }, revisionId })
    }
  return groupBy(sightings, ({ bundle }) => bundle.parsed.serviceId)
}

export function foundIn(reply: RegistryReply | undefined): readonly SeenBundle[] {
  return reply === undefined || reply.kind === 'failed' ? [] : reply.found
}
