import fc from 'fast-check'
import { exportLedger } from '../../src/broker/moving/export-ledger.ts'
import { importLedger } from '../../src/broker/moving/import-ledger.ts'
import { isJsonObject, type Json, toCanonicalJson } from '../../src/protocol/json.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import type { LedgerRow, Store } from '../../src/store.ts'
import { registryRow } from '../../src/testing/store-contract/catalog-rows.ts'
import { bindingRow, instanceRow, operationRow } from '../../src/testing/store-contract/rows.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { createPlayer, randomRounds } from '../store/random-calls.ts'

/** A ledger with something of everything, made by random calls of a seed: also what is under way, shared and swept. */
export async function richLedger(seed = 7): Promise<Store> {
  const clock = createVirtualClock(Date.UTC(2026, 0, 1))
  const store = createMemoryStore({ clock })
  const player = createPlayer(store, clock.now)
  for (const { calls, pause } of fc.sample(randomRounds, { seed, numRuns: 40 }).flat()) {
    for (const call of calls) await player.playAtOnce([call])
    await clock.advance(pause)
  }
  const none = { insertRevisions: [], putServices: [], deleteServices: [], deleteRevisions: [], deleteRegistries: [] }
  await store.changeCatalog(0, { ...none, putRegistries: [registryRow('local')] })
  await store.accept({ instanceId: strange }, () => ({
    answer: undefined,
    change: {
      instance: instanceRow(strange, { state: { 'a.b': strange, $c: [null, 1.5e-7] }, lastOperationId: 'strange' }),
      bindings: [bindingRow(strange, strange)],
      operations: [operationRow('strange', strange, { bindingId: strange, description: strange })],
      history: [provisioned],
    },
  }))
  await store.writeNotes([
    { kind: 'gate', id: 'new', version: 0, doc: { action: 'new', message: strange } },
    { kind: 'request', id: 'r', version: 0, doc: { status: 202, body: {} }, expiresAt: clock.now() + 60_000 },
  ])
  await store.writeNotes([{ kind: 'gate', id: 'new', version: 1, doc: { action: 'new', message: strange } }])
  return store
}

/** Not every database takes it for a text. */
const strange = `ü\u0000\ud800"'\u2028${'x'.repeat(300)}`
const provisioned = { at: 1, type: 'accepted', instanceId: strange, message: strange } as const

/** The export as text. */
export async function exported(store: Store, secrets = true): Promise<string> {
  const texts: string[] = []
  await exportLedger(store, { secrets, now: 0, write: text => void texts.push(text) })
  return texts.join('')
}

export async function* linesOf(text: string): AsyncIterable<string> {
  for (const line of text.split('\n').slice(0, -1)) yield line
}

export const imported = (store: Store, text: string) => importLedger(store, linesOf(text))

/** All rows of a ledger, in one order whatever store they came from. What happened to one instance stays in its order. */
export function rowsIn(text: string): readonly string[] {
  const rows = text
    .split('\n')
    .slice(1, -2)
    .map(line => JSON.parse(line) as { readonly line: number } & LedgerRow)
    .filter(row => !('check' in row))
    .map(({ line: _line, ...row }) => withoutFence(row as unknown as Readonly<Record<string, Json>>))
  const places = new Map<string, number>()
  const keyed = rows.map(row => {
    const owner = ownerOf(row)
    const place = places.get(owner) ?? 0
    places.set(owner, place + 1)
    return `${owner} ${owner === '' ? '' : place} ${toCanonicalJson(row)}`
  })
  return keyed.toSorted()
}

function ownerOf({ history, step }: Readonly<Record<string, Json>>): string {
  if (history !== undefined) return `history ${String((history as { instanceId: string }).instanceId)}`
  return step === undefined ? '' : `step ${String((step as { operationId: string }).operationId)}`
}

/** A store may count from a higher number on. */
function withoutFence(row: Readonly<Record<string, Json>>): Readonly<Record<string, Json>> {
  return isJsonObject(row.ledger) ? { ledger: { ...row.ledger, fence: undefined } } : row
}

export function fenceIn(text: string): number {
  return JSON.parse(text.split('\n')[1] ?? '').ledger.fence
}
