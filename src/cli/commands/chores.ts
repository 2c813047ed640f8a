import type { Command } from 'commander'
import { failure } from '../cli-error.ts'
import { checkName } from '../ids.ts'
import type { CliIo } from '../io.ts'
import { addConnectionOptions, examples } from '../options.ts'
import { refusal } from '../refusal.ts'
import { describeResult, renderChores } from '../render/chore-table.ts'
import { withoutNull } from '../render/fields.ts'
import { type ConnectionOptions, openSession } from '../session.ts'
import { readChores, watchChore } from '../watch-chore.ts'

export function defineCommand(program: Command, io: CliIo): void {
  const chores = program
    .command('chores')
    .description('show and run the periodic upkeep of a broker')
    .addHelpText('after', examples('purser chores list', 'purser chores run purge'))
  addConnectionOptions(chores.command('list').description('show every chore, its schedule and its latest run'))
    .addHelpText('after', examples('purser chores list', 'purser chores list --output json'))
    .action((options: ConnectionOptions) => listChores(io, options))
  addConnectionOptions(
    chores
      .command('run')
      .argument('<name>', 'name of the chore, also of one that is off')
      .description('run a chore now and wait until it has ended'),
  )
    .addHelpText('after', examples('purser chores run purge', 'purser chores run clean-up-instances-all'))
    .action((name: string, options: ConnectionOptions) => runChore(io, name, options))
}

async function listChores(io: CliIo, options: ConnectionOptions): Promise<void> {
  const session = openSession(io, options)
  const chores = await readChores(session)
  session.print({ chores }, renderChores(chores))
}

async function runChore(io: CliIo, name: string, options: ConnectionOptions): Promise<void> {
  const session = openSession(io, options)
  checkName(name, 'the name of a chore', 'purser chores list shows the chores there are.')
  const response = await session.admin.runChore(name)
  if (response.status !== 202) throw refusal(`could not run the chore ${name}`, response)
  const chore = await watchChore(session, name, response.body.due_at ?? '')
  if (chore.ok === false)
    throw failure({
      what: `the chore ${name} failed`,
      why: chore.message ?? 'the broker gave no reason',
      next: 'The log of the broker says more; run it again when the reason is gone.',
    })
  const { started_at, finished_at, message } = chore
  session.print(withoutNull({ name, ok: true, message, started_at, finished_at }), `${describeResult(chore)}\n`)
}
