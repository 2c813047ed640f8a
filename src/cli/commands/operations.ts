import type { Command } from 'commander'
import { checkName } from '../ids.ts'
import type { CliIo } from '../io.ts'
import { addConnectionOptions, examples } from '../options.ts'
import { refusal } from '../refusal.ts'
import { renderLog } from '../render/operation-log.ts'
import { type ConnectionOptions, openSession } from '../session.ts'

export function defineCommand(program: Command, io: CliIo): void {
  const operations = program
    .command('operations')
    .description('look at the operations of a broker')
    .addHelpText('after', examples('purser operations log 0197a7c2-7f5e-7cc0-93a1-55d2e1a2b3c4'))
  addConnectionOptions(
    operations
      .command('log')
      .argument('<operation>', 'id of the operation, as the broker gave it with its 202')
      .description('print the end of what the bundle of an operation printed'),
  )
    .addHelpText('after', examples('purser operations log 0197a7c2-7f5e-7cc0-93a1-55d2e1a2b3c4'))
    .action((id: string, options: ConnectionOptions) => showLog(io, id, options))
}

async function showLog(io: CliIo, id: string, options: ConnectionOptions): Promise<void> {
  checkName(id, 'the id of an operation', 'Give the operation that the broker answered with its 202.')
  const session = openSession(io, options)
  const response = await session.admin.operationLog(id)
  const { runs } = response.body
  if (response.status !== 200 || !Array.isArray(runs)) throw refusal(`could not read the log of ${id}`, response)
  if (runs.length === 0 && options.output === 'text')
    session.note('No run of a bundle has ended in this operation: there is no log.')
  session.print(response.body, renderLog(runs))
}
