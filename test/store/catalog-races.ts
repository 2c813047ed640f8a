/** What several replicas on one ledger do to its catalog at the same time. */
import { expect } from 'vitest'
import { RevisionGoneError, type Store, type WakeUp } from '../../src/store.ts'
import {
  catalogIn,
  change,
  changesOf,
  idsIn,
  pin,
  revisionRow,
  serviceRow,
} from '../../src/testing/store-contract/catalog-rows.ts'

/** Every round, many pin to the old revision of a retired service while another sweeps the service away. */
export async function raceForRevisions(stores: readonly Store[], rounds: number): Promise<void> {
  const store = pick(stores, 0)
  for (let round = 0; round < rounds; round += 1) {
    const [old, current, service] = [`old${round}`, `current${round}`, `service${round}`]
    const revisions = [revisionRow(old, service), revisionRow(current, service)]
    await change(store, { insertRevisions: revisions, putServices: [serviceRow(service, current, 1)] })
    const { version } = await catalogIn(store)
    const sweep = () =>
      pick(stores, round).changeCatalog(
        version,
        changesOf({ deleteServices: [service], deleteRevisions: [old, current] }),
      )
    const pins = times(6, index => () => pin(pick(stores, index), `${round}.${index}`, pinsOf(index, old, current)))
    const moves: (() => Promise<unknown>)[] = [...pins.slice(0, round % 6), sweep, ...pins.slice(round % 6)]
    const outcomes = await Promise.allSettled(moves.map(move => move()))
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(RevisionGoneError)

    const [services, left] = await idsIn(store)
    const rows = await Promise.all(times(6, index => store.instance(`${round}.${index}`)))
    const needed = rows.flatMap(row => [row?.revisionId, row?.nextRevisionId].filter(id => id !== undefined))
    expect(rows.filter(row => row !== undefined)).toHaveLength(
      outcomes.filter(outcome => outcome.status === 'fulfilled').length - 1,
    )
    expect(left).toEqual(expect.arrayContaining(needed))
    if (needed.length > 0)
      expect([services, left]).toEqual([expect.arrayContaining([service]), expect.arrayContaining([current])])
  }
}

/** Of all that were decided from one version one is written, whichever replica it came from. */
export async function raceForVersions(stores: readonly Store[], rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const before = await catalogIn(pick(stores, 0))
    const written = await Promise.all(
      times(9, index =>
        pick(stores, index).changeCatalog(
          before.version,
          changesOf({ insertRevisions: [revisionRow(`${round}.${index}`), revisionRow(`${round}.same`)] }),
        ),
      ),
    )
    const winners = [...written.keys()].filter(index => written[index])
    expect(winners).toHaveLength(1)
    const after = await catalogIn(pick(stores, 1))
    expect(after.version).toBeGreaterThan(before.version)
    expect(after.revisions.map(({ id }) => id).filter(id => id.startsWith(`${round}.`))).toEqual([
      `${round}.${winners[0]}`,
      `${round}.same`,
    ])
  }
}

/** Resolves when the store has heard of a new catalog. Where it may not listen yet, another change follows. */
export async function hearOfCatalog(listening: Store, writing: Store): Promise<WakeUp[]> {
  const heard: WakeUp[] = []
  let wake = () => {}
  const stop = listening.onWakeUp(wakeUp => {
    heard.push(wakeUp)
    wake()
  })
  for (let count = 0; heard.length === 0; count += 1) {
    const woken = new Promise<void>(resolve => {
      wake = resolve
    })
    await change(writing, { insertRevisions: [revisionRow(`heard ${count}`)] })
    if (heard.length === 0) await Promise.race([woken, new Promise(resolve => setTimeout(resolve, 500))])
  }
  stop()
  return heard
}

function pinsOf(index: number, old: string, current: string) {
  return index % 3 === 0 ? { revisionId: current, nextRevisionId: old } : { revisionId: old }
}

export function pick(stores: readonly Store[], index: number): Store {
  const store = stores[index % stores.length]
  if (store === undefined) throw new Error('no store')
  return store
}

function times<Result>(count: number, make: (index: number) => Result): Result[] {
  return Array.from({ length: count }, (_, index) => make(index))
}
