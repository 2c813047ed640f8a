/** Rows are kept until they take this much together; then the oldest go. */
const capacity = 8 * 1024 * 1024

export type RowCache = ReturnType<typeof createRowCache>

/**
 * Rows as they were read last, for the polls of many platforms, who share them: they are frozen. The database is this process's alone and every write goes
 * through this store, so a row that was not written since is still what the database holds.
 */
export function createRowCache() {
  const rows = new Map<string, { readonly row: object; readonly size: number }>()
  let total = 0

  /** The row is being written. */
  const forget = (key: string) => {
    total -= rows.get(key)?.size ?? 0
    rows.delete(key)
  }
  return {
    get: <Row>(key: string) => rows.get(key)?.row as Row | undefined,
    /** The row as the database holds it now. `size` says how much memory it takes, about. */
    put(key: string, row: object, size: number) {
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
    /** Rows are being written that nobody named. */
    clear() {
      rows.clear()
      total = 0
    },
  }
}

export const instanceKey = (id: string) => `i${id}`
export const operationKey = (id: string) => `o${id}`
/** No id holds a NUL: it parts the two that name a binding. */
export const bindingKey = (instanceId: string, id: string) => `b${instanceId}\0${id}`
