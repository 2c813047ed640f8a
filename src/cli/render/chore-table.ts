import type { ChoreBody } from '../../client/index.ts'
import { toLine } from './printable.ts'
import { renderTable } from './table.ts'

/** One line a chore. */
export function renderChores(chores: readonly ChoreBody[]): string {
  const rows = chores.map(chore => [
    toLine(chore.name),
    toLine(describeSchedule(chore)),
    toLine(chore.next_at ?? '-'),
    toLine(chore.started_at ?? '-'),
    toLine(describeResult(chore)),
  ])
  return renderTable([['CHORE', 'SCHEDULE', 'NEXT RUN', 'LATEST RUN', 'RESULT'], ...rows])
}

/** How the latest run ended, in a few words. */
export function describeResult({ running, started_at, finished_at, ok, message = '' }: ChoreBody): string {
  if (running) return 'running'
  if (started_at === undefined) return '-'
  if (finished_at === undefined) return 'interrupted, to be taken over'
  return ok === false ? `failed: ${message}` : message
}

function describeSchedule({ pattern, time_zone }: ChoreBody): string {
  if (pattern === undefined) return 'off'
  return time_zone === undefined || time_zone === 'UTC' ? pattern : `${pattern} (${time_zone})`
}
