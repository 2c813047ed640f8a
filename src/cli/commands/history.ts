import type { ActBody } from '../../client/index.ts'
import type { CliCommand } from '../command.ts'
import { readList } from '../read-list.ts'
import { renderTable } from '../render/tables.ts'
import { onBroker, type Session } from '../session.ts'

export function defineCommand(program: CliCommand): void {
  program
    .command('history')
    .description('list what operators did by hand')
    .option('--by <name>', 'what one of them did')
    .option('--verb <verb>', 'retry, cancel, fail, hold, release, run-now, move, abandon, observe, sweep or adopt')
    .option('--instance <id>', 'what was done to one instance')
    .option('--since <time>', 'from then on, such as 2026-01-01T00:00:00Z')
    .option('--until <time>', 'earlier')
    .listOptions()
    .connectionOptions()
    .examples('purser history --by ops', 'purser history --verb abandon --output jsonl')
    .action(onBroker(listHistory))
}

interface Flags {
  readonly by?: string
  readonly verb?: string
  readonly instance?: string
  readonly since?: string
  readonly until?: string
}

async function listHistory(session: Session, { by, verb, instance: instance_id, since, until }: Flags): Promise<void> {
  const query = { by, verb, instance_id, since, until }
  const list = await readList(session, 'acts', page => session.admin.history({ ...query, ...page }))
  session.print(list, render(list.items))
}

function render(acts: readonly ActBody[]): string {
  if (acts.length === 0) return 'Nobody has done anything of that kind.\n'
  const rows = acts.map(({ at, by, verb, instance_id, operation_id = '-', reason = '' }) => {
    return [at, by, verb, instance_id, operation_id, reason]
  })
  return renderTable([['AT', 'BY', 'VERB', 'INSTANCE', 'OPERATION', 'REASON'], ...rows])
}
