import type { RegistryState } from '../../domain/catalog-state.ts'
import type { Observer } from '../../observer.ts'

/** Tells operators once when a registry stops answering, answers again, or has new problems. */
export function reportRegistryChanges(
  before: readonly RegistryState[],
  after: readonly RegistryState[],
  observer: Observer,
): void {
  for (const state of after) {
    const { name: registry, failures, lastProblem, problems = [] } = state
    const known = before.find(({ name }) => name === registry)
    const hadFailed = (known?.failures ?? 0) > 0
    if (failures > 0 && !hadFailed) observer['registry.unavailable']?.({ registry, problem: lastProblem })
    if (failures === 0 && hadFailed) observer['registry.available']?.({ registry })
    for (const problem of problems)
      if (known?.problems?.includes(problem) !== true) observer['registry.problem']?.({ registry, problem })
  }
}
