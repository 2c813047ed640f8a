import type { FieldMistake, Severity } from './mistake.ts'

/** Nobody reads more of them at once, and a hostile text may hold a hundred thousand. */
const most = 100

/** Keeps the first mistakes of each severity, and counts the others: those are not even made. */
export function createTold() {
  const told: Record<Severity, FieldMistake[]> = { error: [], warning: [] }
  const counts: Record<Severity, number> = { error: 0, warning: 0 }
  const all: FieldMistake[] = []
  return {
    add(severity: Severity, toMistake: () => FieldMistake): void {
      if (++counts[severity] > most) return
      const mistake = toMistake()
      told[severity].push(mistake)
      all.push(mistake)
    },
    /** In the order in which they were found; a last one says how many more there are. */
    mistakes: (): readonly FieldMistake[] => [...all, ...more('error'), ...more('warning')],
  }

  /** Stands where the last one stands that is told. */
  function more(severity: Severity): FieldMistake[] {
    const last = told[severity].at(-1)
    const count = counts[severity] - most
    if (count <= 0 || last === undefined) return []
    const problem = `and ${count} more ${severity === 'error' ? 'mistakes' : 'warnings'}; correct these first`
    return [{ ...last, kind: 'rule', rule: problem, problem, remedy: undefined, hint: undefined }]
  }
}
