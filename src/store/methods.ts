import type { Store } from '../store.ts'

type NeedsNone = 'name' | 'known' | 'moving' | 'sealing' | 'chain' | 'onWakeUp' | 'close'

/** The methods of a store that need its database. They may answer at once, or throw. */
export type Methods = {
  readonly [Name in keyof Omit<Store, NeedsNone>]: (
    ...values: Parameters<Store[Name]>
  ) => Awaited<ReturnType<Store[Name]>> | ReturnType<Store[Name]>
}

/** Those that read one row, or the rows of one instance or operation. */
export type RowReads = Pick<
  Methods,
  | 'instance'
  | 'binding'
  | 'bindings'
  | 'claimants'
  | 'operation'
  | 'steps'
  | 'history'
  | 'dueForObservation'
  | 'dueForExpiry'
  | 'backlog'
>

/** The same methods, each of them run by `run`: it may refuse one, translate its errors, and know which are under way. */
export function runMethods(methods: Methods, run: (method: () => unknown) => Promise<unknown>) {
  const entries = Object.entries(methods).map(([name, method]) => {
    const call = method as (...values: readonly unknown[]) => unknown
    return [name, (...values: readonly unknown[]) => run(() => call(...values))]
  })
  return Object.fromEntries(entries) as Omit<Store, NeedsNone>
}
