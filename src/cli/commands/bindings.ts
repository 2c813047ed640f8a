import type { CliCommand } from '../command.ts'
import { readList } from '../read-list.ts'
import { renderBindingList } from '../render/operators.ts'
import { onBroker, type Session } from '../session.ts'

export function defineCommand(program: CliCommand): void {
  const bindings = program
    .command('bindings')
    .description('look at the bindings of a broker')
    .examples('purser bindings list --expires-before 2026-12-31T00:00:00Z')
  bindings
    .command('list')
    .description('list bindings, the newest first; with --expires-before those that expire first')
    .option('--expires-before <time>', 'those that expire earlier, such as 2026-01-01T00:00:00Z')
    .option('--instance <id>', 'those of one instance')
    .choiceOption('--phase <phase>', 'those in this phase', ['creating', 'ready', 'deleting', 'failed', 'deleted'])
    .option('--service <id>', 'id of the service')
    .option('--plan <id>', 'id of the plan')
    .listOptions()
    .connectionOptions()
    .examples(
      'purser bindings list --expires-before 2026-12-31T00:00:00Z',
      'purser bindings list --instance my-db --output json',
    )
    .action(onBroker(list))
}

interface Flags {
  readonly expiresBefore?: string
  readonly instance?: string
  readonly phase?: string
  readonly service?: string
  readonly plan?: string
}

async function list(session: Session, flags: Flags): Promise<void> {
  const { expiresBefore: before, instance, phase, service, plan } = flags
  const expiring = before === undefined ? {} : { by: 'expires', order: 'oldest', before }
  const query = { instance_id: instance, phase, service_id: service, plan_id: plan }
  const found = await readList(session, 'bindings', ({ order, ...page }) =>
    session.admin.bindings({ ...query, ...expiring, ...(order && { order }), ...page }),
  )
  session.print(found, renderBindingList(found.items))
}
