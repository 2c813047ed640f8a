import { toLine } from './printable.ts'

/** What a look has found; `purser doctor` gets them from the server's code, which the help must not load. */
export interface ShownFinding {
  readonly state: 'ok' | 'warning' | 'wrong'
  readonly about: string
  readonly expected: string
  readonly found: string
  readonly remedy?: string
}

/** What is as it should be is one line; the rest says what was expected, what there is, and what to do. */
export function renderFindings(findings: readonly ShownFinding[]): string {
  return findings.map(renderFinding).join('')
}

function renderFinding({ state, about, expected, found, remedy = '' }: ShownFinding): string {
  const head = `${state.padEnd(7)}  ${toLine(about)}`
  if (state === 'ok') return `${head}: ${toLine(found)}\n`
  const rows = { expected, found, remedy }
  return [head, ...Object.entries(rows).map(([name, text]) => `         ${name.padEnd(8)}  ${toLine(text)}`), ''].join(
    '\n',
  )
}

export function countStates(findings: readonly ShownFinding[]): Readonly<Record<ShownFinding['state'], number>> {
  const of = (state: ShownFinding['state']) => findings.filter(finding => finding.state === state).length
  return { ok: of('ok'), warning: of('warning'), wrong: of('wrong') }
}
