import type { ErrorGroupBody } from '../../client/index.ts'
import { actions } from '../../protocol/actions.ts'
import type { CliCommand } from '../command.ts'
import { refusal } from '../refusal.ts'
import { renderTable } from '../render/tables.ts'
import { onBroker, type Session } from '../session.ts'

export function defineCommand(program: CliCommand): void {
  program
    .command('errors')
    .description('show why operations fail, by what their failures have in common')
    .option('--service <id>', 'those of one service')
    .choiceOption('--action <action>', 'those of this action', actions)
    .option('--since <time>', 'that happened from then on, such as 2026-01-01T00:00:00Z')
    .pagerOption()
    .connectionOptions()
    .examples('purser errors', 'purser errors --action provision --output jsonl')
    .action(onBroker(showErrors))
}

interface Flags {
  readonly service?: string
  readonly action?: string
  readonly since?: string
}

async function showErrors(session: Session, { service: service_id, action, since }: Flags): Promise<void> {
  const response = await session.admin.errors({ service_id, action, since })
  const { items } = response.body
  if (response.status !== 200 || !Array.isArray(items)) throw refusal('could not read the errors', response)
  await session.show(response.body, render(items))
}

function render(groups: readonly ErrorGroupBody[]): string {
  if (groups.length === 0) return 'Nothing has failed.\n'
  const rows = groups.map(({ fingerprint, action, step = '-', failed, retrying, last_at, sample }) => {
    return [fingerprint, action, step, String(failed), String(retrying), last_at, sample.message]
  })
  return renderTable([['FINGERPRINT', 'ACTION', 'STEP', 'FAILED', 'RETRYING', 'LAST', 'MESSAGE'], ...rows])
}
