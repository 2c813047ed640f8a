import { StoreUnavailableError } from '../../store.ts'

/**
 * One after the other for each key, in the order of asking, as far as this process goes: decisions about one instance would
 * only make each other's snapshots stale. What other replicas do at the same time, the database sorts out.
 */
export function createTurns() {
  const last = new Map<string, Promise<unknown>>()
  return {
    take<Result>(key: string, job: () => Promise<Result>): Promise<Result> {
      const before = last.get(key)
      const result = before === undefined ? job() : before.then(job, error => after(error, job))
      last.set(key, result)
      const forget = () => {
        if (last.get(key) === result) last.delete(key)
      }
      result.then(forget, forget)
      return result
    },
  }
}

/**
 * Whoever waited behind a job that found the store unavailable shares its fate: a server that does not answer would cost
 * each of them its whole timeout, one after the other.
 */
function after<Result>(error: unknown, job: () => Promise<Result>): Promise<Result> {
  return error instanceof StoreUnavailableError ? Promise.reject(error) : job()
}
