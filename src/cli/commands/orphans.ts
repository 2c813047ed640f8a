import type { OrphanBody, OrphansBody } from '../../client/index.ts'
import { count } from '../../shape/count.ts'
import { failedInPart } from '../cli-error.ts'
import type { CliCommand } from '../command.ts'
import { confirm } from '../confirm.ts'
import { refusal } from '../refusal.ts'
import { renderTable } from '../render/tables.ts'
import { onBroker, type Session } from '../session.ts'

export function defineCommand(program: CliCommand): void {
  program
    .command('orphans')
    .description('show what backends hold and no instance has, and what they lack; with --fix, remove it')
    .option('--service <id>', 'of one service')
    .option('--fix', 'remove what belongs to nobody and is old enough')
    .option('--reason <text>', 'why; it is kept in the history; needed with --fix')
    .yesOption()
    .connectionOptions()
    .explain(
      'Only services that can list their backend are asked. What is missing in a backend is only shown. What is younger than',
      'orphans.minimumAge is never removed, nor what somebody is at work on.',
    )
    .examples('purser orphans', 'purser orphans --service postgres --fix --reason "left by the outage"')
    .action(onBroker(showOrphans))
}

interface Flags {
  readonly service?: string
  readonly fix?: boolean
  readonly reason?: string
  readonly yes?: boolean
}

async function showOrphans(session: Session, flags: Flags): Promise<void> {
  const { service: service_id, fix, reason = '', yes } = flags
  const found = await session.admin.orphans({ service_id })
  const { items = [] } = found.body
  if (found.status !== 200) throw refusal('could not compare the backends with the ledger', found)
  const removable = items.filter(item => item.removable).length
  if (fix !== true || removable === 0) return conclude(session, found.body)
  session.note(render(items).trimEnd())
  await confirm(session, `Remove ${removable} of them? What they hold is lost.`, yes)
  const removed = await session.admin.removeOrphans({ service_id, reason })
  if (removed.status !== 200) throw refusal('could not remove them', removed)
  conclude(session, removed.body)
}

/** What could not be compared is not the end of what could. */
function conclude({ print, options }: Session, body: OrphansBody): void {
  const { items = [], failed = [] } = body
  if (failed.length === 0 || options.output === 'text')
    print(body, items.length === 0 ? agreement(body) : render(items))
  if (failed.length === 0) return
  const parts = {
    what: `${count(failed.length, 'service')} could not be compared`,
    why: failed.map(({ service_id, reason }) => `${service_id}: ${reason}`).join('; '),
    next: 'Mend that, then ask again; nothing was told or removed of these services.',
  }
  throw failedInPart(parts, body)
}

/** Who was not asked does not agree. */
function agreement({ services = [], failed = [] }: OrphansBody): string {
  if (services.length > 0) return `The ${failed.length === 0 ? '' : 'other '}backends and the ledger agree.\n`
  return failed.length > 0 ? '' : 'No service of this broker can list its backend: nothing was compared.\n'
}

function render(items: readonly OrphanBody[]): string {
  const rows = items.map(({ kind, service_id, name, instance_id = '-', binding_id = '-', operation, reason = '' }) => {
    const what = operation === undefined ? reason || 'can be removed' : `is removed by ${operation}`
    return [kind, service_id, name, instance_id, binding_id, what]
  })
  return renderTable([['KIND', 'SERVICE', 'NAME', 'INSTANCE', 'BINDING', 'WHAT'], ...rows])
}
