import { type Maskable, maskHistory } from '../domain/mask-history.ts'
import type { Finishing, Snapshot, Store, Verdict } from '../store.ts'
import { wrapMethods } from './wrap-methods.ts'

/** The same store, which never sees who it was in the fields that are named; where there are none, the store itself. */
export function maskStore(store: Store, fields: readonly Maskable[]): Store {
  if (fields.length === 0) return store
  return wrapMethods(store, (name, method) => {
    if (name === 'accept')
      return (target, decide, taker) => {
        const masked = (snapshot: Snapshot) => {
          const { answer, change } = (decide as (snapshot: Snapshot) => Verdict<unknown>)(snapshot)
          return { answer, change: maskHistory(change, fields) }
        }
        return method(target, masked, taker)
      }
    if (name === 'finish')
      return (lease, decide) =>
        method(lease, (finishing: Finishing) => maskHistory((decide as Decide)(finishing), fields))
    return undefined
  })
}

type Decide = Parameters<Store['finish']>[1]
