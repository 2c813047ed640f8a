import { groupBy, type RegistryState } from './catalog-state.ts'
import type { Lapse, ReconcileSettings, RegistryReply, SeenBundle } from './registry-reply.ts'
import { lapseOf, nextRegistryState } from './registry-reply.ts'
import { revisionIdOf } from './revision.ts'

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
  stored: readonly RegistryState[],
  now: number,
  settings: ReconcileSettings,
): ReadonlyMap<string, Source> {
  const states = new Map(stored.map(state => [state.name, state]))
  return new Map(
    registries.map(({ name, answer }, order): [string, Source] => {
      if (answer === undefined) return [name, { name, order, unusable: new Set() }]
      const state = nextRegistryState(name, states.get(name), answer, { now, settings })
      const lapse = lapseOf(state, now, settings)
      const unusable = new Set(foundIn(answer).flatMap(bundle => (bundle.parsed === undefined ? [bundle.name] : [])))
      return [name, { name, order, reply: answer, state, lapse, unusable }]
    }),
  )
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
