import { type CliCommand, createNameParser } from '../command.ts'
import { refusal } from '../refusal.ts'
import { renderChores } from '../render/tables.ts'
import { onBroker, type Session } from '../session.ts'
import { readChores, reportChore } from '../watch-chore.ts'

export function defineCommand(program: CliCommand): void {
  const chores = program
    .command('chores')
    .description('show and run the periodic upkeep of a broker')
    .examples('purser chores list', 'purser chores run purge')
  chores
    .command('list')
    .description('show every chore, its schedule and its latest run')
    .connectionOptions()
    .examples('purser chores list', 'purser chores list --output json')
    .action(onBroker(listChores))
  chores
    .command('run')
    .argument('<name>', 'name of the chore, also of one that is off', parseName)
    .description('run a chore now and wait until it has ended')
    .connectionOptions()
    .examples('purser chores run purge', 'purser chores run clean-up-instances-all')
    .action(onBroker(runChore))
}

const parseName = createNameParser('the name of a chore', 'purser chores list shows the chores there are.')

async function listChores(session: Session): Promise<void> {
  const chores = await readChores(session)
  session.print({ chores }, renderChores(chores))
}

async function runChore(session: Session, name: string): Promise<void> {
  const response = await session.admin.runChore(name)
  if (response.status !== 202) throw refusal(`could not run the chore ${name}`, response)
  await reportChore(session, name, response.body.due_at)
}
