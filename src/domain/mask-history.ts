import type { Change, HistoryEvent } from './change.ts'

/** Fields of the history that say who somebody is. */
export const maskable = ['identity', 'principal', 'address', 'by'] as const
export type Maskable = (typeof maskable)[number]

/** The same change, whose lines of the history do not say who it was, in the fields that are named. */
export function maskHistory<Some extends Change | undefined>(change: Some, fields: readonly Maskable[]): Some {
  if (change?.history === undefined || fields.length === 0) return change
  return { ...change, history: change.history.map(event => mask(event, fields)) }
}

function mask(event: HistoryEvent, fields: readonly Maskable[]): HistoryEvent {
  const hidden = hiddenIn(event, fields).filter(field => event[field] !== undefined)
  return { ...event, ...Object.fromEntries(hidden.map(field => [field, masks[field]])) }
}

/** Who signs in is both who does it and whose session it is: what one field hides is not told by the other. */
function hiddenIn({ by, principal }: HistoryEvent, fields: readonly Maskable[]): readonly Maskable[] {
  const isOneName = by === principal && (fields.includes('by') || fields.includes('principal'))
  return isOneName ? [...fields, 'by', 'principal'] : fields
}

const masks = { identity: { masked: true }, principal: 'masked', address: 'masked', by: 'masked' } as const
