import type { RunLogBody } from '../../client/index.ts'
import { type CliCommand, createNameParser } from '../command.ts'
import { refusal } from '../refusal.ts'
import { toLine, toLines } from '../render/printable.ts'
import { onBroker, type Session } from '../session.ts'

export function defineCommand(program: CliCommand): void {
  const example = 'purser operations log 0197a7c2-7f5e-7cc0-93a1-55d2e1a2b3c4'
  program
    .command('operations')
    .description('look at the operations of a broker')
    .examples(example)
    .command('log')
    .argument('<operation>', 'id of the operation, as the broker gave it with its 202', parseOperation)
    .description('print the end of what the bundle of an operation printed')
    .connectionOptions()
    .examples(example)
    .action(onBroker(showLog))
}

const idAdvice = 'Give the operation that the broker answered with its 202.'
const parseOperation = createNameParser('the id of an operation', idAdvice)

async function showLog(session: Session, id: string): Promise<void> {
  const response = await session.admin.operationLog(id)
  const { runs } = response.body
  if (response.status !== 200 || !Array.isArray(runs)) throw refusal(`could not read the log of ${id}`, response)
  if (runs.length === 0 && session.options.output === 'text')
    session.note('No run of a bundle has ended in this operation: there is no log.')
  session.print(response.body, runs.map(render).join(''))
}

/** A run with what it printed, line by line as it was. */
function render({ name, exit, verdict, message, log }: RunLogBody): string {
  const end = [verdict, exit === undefined ? undefined : `exit code ${exit}`].filter(part => part !== undefined)
  const head = [name, end.join(', '), message].filter(part => part !== undefined && part !== '')
  return `--- ${toLine(head.join(': '))}\n${toLines(log)}`
}
