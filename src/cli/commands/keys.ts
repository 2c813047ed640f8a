import type { KeysBody } from '../../client/index.ts'
import type { CliCommand } from '../command.ts'
import { refusal } from '../refusal.ts'
import { renderTable } from '../render/tables.ts'
import { onBroker, type Session } from '../session.ts'
import { reportChore } from '../watch-chore.ts'

export function defineCommand(program: CliCommand): void {
  const keys = program
    .command('keys')
    .description('show and rotate the keys that values in the ledger are encrypted with')
    .examples('purser keys list', 'purser keys rotate')
  keys
    .command('list')
    .description('show the keys by their labels, and how many values each protects')
    .connectionOptions()
    .examples('purser keys list', 'purser keys list --output json')
    .action(onBroker(listKeys))
  keys
    .command('rotate')
    .description('encrypt everything with the current key, and wait until that has ended')
    .option('--reason <text>', 'why; it stands in the history')
    .connectionOptions()
    .examples('purser keys rotate --reason "the old key was on a lost laptop"')
    .action(onBroker(rotateKeys))
}

async function listKeys(session: Session): Promise<void> {
  const response = await session.admin.keys()
  const { keys, current, plain_values } = response.body
  if (response.status !== 200 || !Array.isArray(keys)) throw refusal('could not read the keys', response)
  session.print({ current, keys, plain_values }, render(response.body))
}

async function rotateKeys(session: Session, { reason }: { readonly reason?: string }): Promise<void> {
  const response = await session.admin.rotateKeys({ reason })
  const { name = '', due_at } = response.body
  if (response.status !== 202) throw refusal('could not rotate the keys', response)
  await reportChore(session, name, due_at)
}

function render({ current, keys = [], plain_values = 0 }: KeysBody): string {
  const rows = keys.map(({ label, configured, values }) => {
    const use = label === current ? 'new values' : configured ? 'reads' : 'MISSING'
    return [label, use, String(values)]
  })
  return renderTable([['KEY', 'USED FOR', 'VALUES'], ...rows, ['(not encrypted)', '', String(plain_values)]])
}
