import type { CliCommand } from '../command.ts'
import { refusal } from '../refusal.ts'
import { renderTable } from '../render/tables.ts'
import { onBroker, type Session } from '../session.ts'

export function defineCommand(program: CliCommand): void {
  program
    .command('workers')
    .description('list the processes of a broker that live, and what they have to do')
    .connectionOptions()
    .examples('purser workers')
    .action(onBroker(listWorkers))
}

async function listWorkers(session: Session): Promise<void> {
  const response = await session.admin.workers()
  const { items } = response.body
  if (response.status !== 200 || !Array.isArray(items)) throw refusal('could not list the workers', response)
  const rows = items.map(({ owner, name = '-', version, since, seen_at, slots, used, leases }) => {
    return [name, version, since, seen_at, `${used} of ${slots}`, String(leases), owner]
  })
  session.print(
    response.body,
    renderTable([['NAME', 'VERSION', 'SINCE', 'SEEN', 'SLOTS USED', 'LEASES', 'OWNER'], ...rows]),
  )
}
