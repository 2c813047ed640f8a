/** One line of the report: what was measured, against what, and the ratio of the two in the same rounds. */
export interface Result {
  readonly name: string
  readonly unit: string
  /** Medians over the rounds. */
  readonly ours: number
  readonly baseline: number
  /** Median of the rounds' own ratios: what a slow minute does, it does to both. */
  readonly ratio: number
  readonly goal: string
  readonly met: boolean
  readonly rounds: number
}

export interface Round {
  readonly ours: number
  readonly baseline: number
}

export function toResult(
  name: string,
  unit: string,
  rounds: readonly Round[],
  goal: { readonly text: string; readonly met: (ratio: number) => boolean },
): Result {
  const ratio = median(rounds.map(({ ours, baseline }) => ours / baseline))
  return {
    name,
    unit,
    ours: median(rounds.map(round => round.ours)),
    baseline: median(rounds.map(round => round.baseline)),
    ratio,
    goal: goal.text,
    met: goal.met(ratio),
    rounds: rounds.length,
  }
}

export function atLeast(goal: number) {
  return { text: `>= ${goal}`, met: (ratio: number) => ratio >= goal }
}

export function atMost(goal: number) {
  return { text: `<= ${goal}`, met: (ratio: number) => ratio <= goal }
}

/** Shown beside the others, for those who want to know. */
export const noGoal = { text: '', met: () => true }

/** A line for what cannot be measured on this machine. */
export function notMeasured(name: string, reason: string): Result {
  return toResult(`${name}: not measured, ${reason}`, '', [], noGoal)
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

export function render(results: readonly Result[]): string {
  const rows = results.map(result => [
    result.name,
    `${figure(result.ours)} ${result.unit}`,
    `${figure(result.baseline)} ${result.unit}`,
    Number.isNaN(result.ratio) ? '-' : result.ratio.toFixed(2),
    result.goal,
    result.goal === '' ? '' : result.met ? 'met' : 'NOT MET',
  ])
  const head = ['what', 'purser', 'baseline', 'ratio', 'goal', '']
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map(row => (row[i] ?? '').length)))
  return [head, ...rows]
    .map(row =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function figure(value: number): string {
  if (Number.isNaN(value)) return '-'
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toPrecision(3)
}
