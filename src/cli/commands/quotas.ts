import type { CliCommand } from '../command.ts'
import { refusal } from '../refusal.ts'
import { renderTable } from '../render/tables.ts'
import { onBroker, type Session } from '../session.ts'

export function defineCommand(program: CliCommand): void {
  program
    .command('quotas')
    .description('list what each platform has, and what it may have')
    .connectionOptions()
    .examples('purser quotas')
    .action(onBroker(listQuotas))
}

async function listQuotas(session: Session): Promise<void> {
  const response = await session.admin.quotas()
  const { items } = response.body
  if (response.status !== 200 || !Array.isArray(items)) throw refusal('could not list the quotas', response)
  const rows = items.map(({ platform, use, limit }) => [
    platform,
    ...(['instances', 'bindings', 'operations'] as const).map(kind => `${use[kind]} of ${limit[kind] ?? 'any'}`),
  ])
  session.print(response.body, renderTable([['PLATFORM', 'INSTANCES', 'BINDINGS', 'OPERATIONS'], ...rows]))
}
