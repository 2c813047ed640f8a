import type { Binding, Instance, Operation } from '../../store.ts'

/** Rows of a kind are kept until they take this much together; then the oldest go. */
const capacity = 3 * 1024 * 1024

export type RowCache = ReturnType<typeof createRowCache>

/**
 * Rows as they were read last, for the polls of many platforms, who share them: they are frozen. The database is this process's alone and every write goes
 * through this store, so a row that was not written since is still what the database holds.
 */
export function createRowCache() {
  const kinds = {
    instances: createRows<Instance>(),
    operations: createRows<Operation>(),
    bindings: createRows<Binding>(),
  }
  return {
    ...kinds,
    /** Rows are being written that nobody named. */
    clear() {
      for (const rows of Object.values(kinds)) rows.clear()
    },
  }
}

export type Rows<Row extends object> = ReturnType<typeof createRows<Row>>

/** By the ids themselves, for each kind apart: a text that is made for each look would have to be hashed each time. */
function createRows<Row extends object>() {
  const rows = new Map<string, { readonly row: Row; readonly size: number }>()
  let total = 0

  /** The row is being written. */
  const forget = (key: string) => {
    const known = rows.get(key)
    if (known === undefined) return
    total -= known.size
    rows.delete(key)
  }
  return {
    get: (key: string): Row | undefined => rows.get(key)?.row,
    /** The row as the database holds it now. `size` says how much memory it takes, about. */
    put(key: string, row: Row, size: number) {
      if (size > capacity / 8) return
      forget(key)
      rows.set(key, { row, size })
      total += size
      for (const oldest of rows.keys()) {
        if (total <= capacity) break
        forget(oldest)
      }
    },
    forget,
    clear() {
      rows.clear()
      total = 0
    },
  }
}

/** No id holds a NUL: it parts the two that name a binding. */
export const bindingKey = (instanceId: string, id: string) => `${instanceId}\0${id}`
