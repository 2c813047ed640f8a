/**
 * Which index the page of a list walks. Every filter has one in the order of its list, but no two have one together: the
 * others are compared row by row. So that no page looks at more than `examine` rows, each index that could lead is asked
 * first where it is after so many: its edge. One that has no edge has few rows, which are read whole; else the one whose edge
 * is furthest away leads, and a page that found too little ends at its edge.
 */
import type { ActQuery, BindingQuery, InstanceQuery, OperationQuery } from '../store.ts'

/** Where a row stands in a list: its time, and the keys that tell rows of the same time apart. */
export type Position = readonly [time: number, ...keys: string[]]

/** What an index begins with. The rows of one instance and the active operations are few by their nature. */
export type Lead =
  | 'time'
  | 'instance'
  | 'active'
  | 'failed'
  | 'phase'
  | 'usable'
  | 'revisionId'
  | 'planId'
  | 'serviceId'
  | 'platform'
  | 'action'
  | 'step'
  | 'fingerprint'
  | 'by'
  | 'verb'

export interface Walks {
  /** Indexes in the order of the list. The first one leads where no row has to be compared. */
  readonly leads: readonly Lead[]
  /** Indexes in another order: of use where they have few rows, which are sorted by hand. */
  readonly few: readonly Lead[]
  /** Whether the first one has rows that were not asked for. */
  readonly sifts: boolean
}

export interface Choice {
  readonly lead: Lead
  /** Its index has another order than the list. */
  readonly byHand: boolean
  /** Where the page ends at the latest; none where the index does. */
  readonly edge?: Position
}

/** Those of one thing that has few rows: all of them are looked at. */
const ofOne = (lead: 'instance' | 'active'): Walks => ({ leads: [lead], few: [], sifts: false })

export function instanceWalks(query: Omit<InstanceQuery, 'limit'>): Walks {
  const { phase, usable } = query
  const filters = { ...namesIn(query), phase, usable }
  // What is deleted is in no index but these.
  const leads: Lead[] = phase === undefined || phase === 'ready' ? [] : ['phase']
  if (query.revisionId !== undefined) leads.push('revisionId')
  if (usable === false && phase !== 'deleted') leads.push('usable')
  if (phase !== 'deleted') leads.push(...leadsIn(filters, ['planId', 'serviceId', 'platform']))
  // The index of revisions has those that are deleted, too.
  return walks(leads, filters, leads[0] === 'revisionId')
}

export function bindingWalks(query: BindingQuery): Walks {
  const { instanceId, phase, by } = query
  if (instanceId !== undefined) return ofOne('instance')
  const filters = { ...namesIn(query), phase }
  // One index is in the order of expiry.
  if (by === 'expires') return { ...walks([], filters), few: leadsIn(filters, ['planId', 'serviceId']) }
  const leads: Lead[] = phase === undefined || phase === 'ready' ? [] : ['phase']
  if (phase !== 'deleted') leads.push(...leadsIn(filters, ['planId', 'serviceId']))
  return walks(leads, filters)
}

export function operationWalks(query: OperationQuery): Walks {
  const { of, state, by, action, step, fingerprint } = query
  if (of !== undefined) return ofOne('instance')
  if (state === 'queued' || state === 'running') return ofOne('active')
  const isFailed = state === 'failed' || state === 'superseded'
  // What has a failed step has failed: another state is compared.
  const filters = { ...namesIn(query), action, step, fingerprint, failed: isFailed ? state : undefined }
  const named = leadsIn(filters, ['step', 'fingerprint', 'failed', 'planId', 'serviceId', 'platform', 'action'])
  const others = { ...filters, state: isFailed ? undefined : state }
  if (by !== 'finished') return walks(named, others)
  // Only these two have an index in the order of ends.
  const leads: Lead[] = isFailed ? ['failed'] : ['time']
  return { ...walks(leads, others), few: named.filter(lead => lead !== 'failed') }
}

export function actWalks({ by, verb, instanceId }: ActQuery): Walks {
  return instanceId === undefined ? walks(leadsIn({ by, verb }, ['by', 'verb']), { by, verb }) : ofOne('instance')
}

type Given = Readonly<Partial<Record<string, unknown>>>

function namesIn({ serviceId, planId, platform, revisionId }: InstanceQuery) {
  return { serviceId, planId, platform, revisionId }
}

/** A plan is of one service, which has no fewer rows. */
function leadsIn(filters: Given, leads: readonly Lead[]): Lead[] {
  const isGiven = (lead: Lead) => filters[lead] !== undefined && (lead !== 'serviceId' || filters.planId === undefined)
  return leads.filter(isGiven)
}

function walks(leads: readonly Lead[], filters: Given, sifts = false): Walks {
  const [first = 'time'] = leads
  const others = Object.entries(filters).filter(([name, value]) => value !== undefined && name !== first)
  return { leads: leads.length === 0 ? ['time'] : leads, few: [], sifts: sifts || others.length > 0 }
}

/** `edges`: those of `leads` and then those of `few`, undefined where an index ends before. */
export function choose(
  { leads, few }: Walks,
  edges: readonly (Position | undefined)[],
  { descending }: { readonly descending: boolean },
): Choice {
  const all = [...leads, ...few].map((lead, index) => ({ lead, byHand: index >= leads.length, edge: edges[index] }))
  const timeOf = ({ edge: [time] = [0] }: Choice) => (descending ? -time : time)
  const inOrder = all.slice(0, leads.length).sort((one, other) => timeOf(other) - timeOf(one))
  return all.find(({ edge }) => edge === undefined) ?? inOrder[0] ?? { lead: 'time', byHand: false }
}
