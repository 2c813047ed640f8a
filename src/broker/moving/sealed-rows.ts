/** What is secret in the rows of an export: left out, or encrypted with the current key where there is one. */
import type { LedgerRow, LedgerRows } from '../../moving.ts'
import type { Keyring, SealedPlace } from '../../store.ts'
import { kindOf } from './format.ts'

const secret: Partial<Readonly<Record<keyof LedgerRows, readonly string[]>>> = {
  instance: ['parameters', 'state', 'dashboardToken'],
  binding: ['parameters', 'state', 'result'],
  operation: ['input'],
  step: ['output'],
}
/** No secrets, but who asked is personal, and a hash can be guessed at: they go with the rest. */
const besides: typeof secret = {
  instance: ['requestHash'],
  binding: ['requestHash'],
  operation: ['identity', 'requestHash'],
  history: ['identity'],
}

export function withoutSealed(row: LedgerRow): object {
  const { kind, fields } = partsOf(row)
  const hidden = hiddenOf(kind)
  return { [kind]: Object.fromEntries(fields.filter(([key]) => !hidden.includes(key))) }
}

/** One value for each row, in the field `sealed`: it belongs to this line of this export. */
export function sealRow(keyring: Keyring, row: LedgerRow, place: SealedPlace): object {
  const { kind, fields } = partsOf(row)
  const hidden = hiddenOf(kind)
  const inside = fields.filter(([key]) => hidden.includes(key))
  if (inside.length === 0) return row
  const sealed = keyring.seal(JSON.stringify(Object.fromEntries(inside)), place)
  return { [kind]: Object.fromEntries(fields.filter(([key]) => !hidden.includes(key))), sealed }
}

/** As it was before it was sealed. */
export function unsealRow(keyring: Keyring, row: object, sealed: string, place: SealedPlace): object {
  const [[kind = '', fields] = []] = Object.entries(row)
  return { [kind]: { ...fields, ...JSON.parse(keyring.unseal(sealed, place)) } }
}

export function placeOfLine(exportId: string, line: number): SealedPlace {
  return ['export', 'line', exportId, String(line)]
}

function hiddenOf(kind: keyof LedgerRows): readonly string[] {
  return [...(secret[kind] ?? []), ...(besides[kind] ?? [])]
}

function partsOf(row: LedgerRow): { readonly kind: keyof LedgerRows; readonly fields: [string, unknown][] } {
  return { kind: kindOf(row), fields: Object.entries(Object.values(row)[0] ?? {}) }
}
