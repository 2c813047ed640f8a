/** What the stores do alike when they seal values again: table after table, by the keys of their rows. */
import type { KeyUse } from '../sealing.ts'

/** A place between two pages: the table, by its number, and the last row that was looked at. */
export function readPlace(place: string | undefined): { readonly index: number; readonly after?: string } {
  const [, index = '0', after] = /^(\d+):?(.*)$/s.exec(place ?? '0') ?? []
  return { index: Number(index), after: after === '' ? undefined : after }
}

/** Undefined after the last one. */
export function toPlace(tables: number, index: number, last: string | undefined): string | undefined {
  if (last !== undefined) return `${index}:${last}`
  return index + 1 < tables ? String(index + 1) : undefined
}

/** A label as the database tells it: null where nothing is sealed, empty where it is not encrypted. */
export function useOf(label: unknown, values: unknown): readonly KeyUse[] {
  if (typeof label !== 'string') return []
  return [{ label: label === '' ? undefined : label, values: Number(values) }]
}

/** Together, those that are not encrypted last. */
export function toUses(counted: readonly KeyUse[]): readonly KeyUse[] {
  const sums = new Map<string, number>()
  for (const { label = '', values } of counted) sums.set(label, (sums.get(label) ?? 0) + values)
  const labels = [...sums.keys()].toSorted(
    (left, right) => Number(left === '') - Number(right === '') || (left < right ? -1 : 1),
  )
  return labels.map(label => ({ label: label === '' ? undefined : label, values: sums.get(label) ?? 0 }))
}
