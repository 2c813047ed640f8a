import type { SessionBody } from '../../client/index.ts'
import { wrongUsage } from '../cli-error.ts'
import { type CliCommand, createNameParser } from '../command.ts'
import { readList } from '../read-list.ts'
import { refusal } from '../refusal.ts'
import { renderTable } from '../render/tables.ts'
import { onBroker, type Session } from '../session.ts'

export function defineCommand(program: CliCommand): void {
  const sessions = program
    .command('sessions')
    .description('see who is signed in to the console, and end that')
    .examples('purser sessions list', 'purser sessions end --principal ops')
  sessions
    .command('list')
    .description('list who is signed in to the console')
    .limitOption()
    .connectionOptions()
    .examples('purser sessions list')
    .action(onBroker(listSessions))
  sessions
    .command('end')
    .argument('[session]', 'id of the session', parseSession)
    .description('end a session, or all of one principal: they have to sign in again')
    .option('--principal <name>', 'instead of an id: all sessions of this one')
    .connectionOptions()
    .examples('purser sessions end 4fTq0d', 'purser sessions end --principal ops')
    .action(onBroker(endSessions))
}

const parseSession = createNameParser('the id of a session', 'purser sessions list shows the sessions there are.')

async function listSessions(session: Session): Promise<void> {
  const list = await readList(session, 'sessions', ({ order: _order, ...page }) => session.admin.sessions(page))
  await session.show(list, render(list.items))
}

interface Flags {
  readonly principal?: string
}

async function endSessions(session: Session, id: string | undefined, { principal }: Flags): Promise<void> {
  const { admin } = session
  if ((id === undefined) === (principal === undefined))
    throw wrongUsage({
      what: 'it is not clear which sessions to end',
      why: id === undefined ? 'there is neither an id nor --principal' : 'there are both an id and --principal',
      next: 'Give the id of one, or --principal for all of somebody.',
    })
  const response = await (id === undefined ? admin.endSessions(principal ?? '') : admin.endSession(id))
  if (response.status !== 200) throw refusal(`could not end ${id ?? `the sessions of ${principal}`}`, response)
  session.printFields(response.body)
}

function render(sessions: readonly SessionBody[]): string {
  if (sessions.length === 0) return 'Nobody is signed in.\n'
  const rows = sessions.map(({ id, principal, scheme, address = '-', begun_at, expires_at }) => {
    return [id, principal, scheme, address, begun_at, expires_at]
  })
  return renderTable([['SESSION', 'PRINCIPAL', 'SCHEME', 'ADDRESS', 'BEGUN', 'EXPIRES'], ...rows])
}
