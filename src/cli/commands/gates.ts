import type { GateBody } from '../../client/index.ts'
import { find, readAdminCatalog } from '../catalog-lookup.ts'
import { type CliCommand, createNameParser } from '../command.ts'
import { refusal } from '../refusal.ts'
import { renderTable } from '../render/tables.ts'
import { onBroker, type Session } from '../session.ts'

export function defineCommand(program: CliCommand): void {
  const gates = program
    .command('gates')
    .description('refuse what platforms ask for, during maintenance')
    .examples('purser gates close provision --message "Until 9 pm nothing new is made."', 'purser gates open provision')
  gates
    .command('list')
    .description('list the gates that are closed')
    .connectionOptions()
    .examples('purser gates list')
    .action(onBroker(listGates))
  gates
    .command('close')
    .argument('<action>', 'provision, update, bind, deprovision, unbind, or new for the first three', parseAction)
    .description('refuse new requests of an action')
    .requiredOption('--message <text>', 'what the platform is told')
    .option('--service <service>', 'only of this service, by its name or id')
    .option('--plan <plan>', 'only of this plan; needs --service')
    .option('--retry-after <seconds>', 'ask the platform to come again (503) instead of failing (422)')
    .option('--reason <text>', 'why; it is shown to operators, and kept in the history')
    .connectionOptions()
    .examples('purser gates close new --message "Until 9 pm nothing new is made." --retry-after 600')
    .action(onBroker(closeGate))
  gates
    .command('open')
    .argument('<action>', 'the action of the gate', parseAction)
    .description('take requests of an action again')
    .option('--service <service>', 'the gate of this service')
    .option('--plan <plan>', 'the gate of this plan; needs --service')
    .option('--reason <text>', 'why; it is kept in the history')
    .connectionOptions()
    .examples('purser gates open new', 'purser gates open bind --service mongo')
    .action(onBroker(openGate))
}

const parseAction = createNameParser('an action', 'Give provision, update, bind, deprovision, unbind or new.')

async function listGates(session: Session): Promise<void> {
  const response = await session.admin.gates()
  const { gates } = response.body
  if (response.status !== 200 || !Array.isArray(gates)) throw refusal('could not read the gates', response)
  session.print({ gates }, render(gates))
}

interface Flags {
  readonly service?: string
  readonly plan?: string
  readonly message?: string
  readonly retryAfter?: string
  readonly reason?: string
}

async function closeGate(session: Session, action: string, flags: Flags): Promise<void> {
  const { message, retryAfter, reason } = flags
  const retry_after = retryAfter === undefined ? undefined : Number(retryAfter)
  const body = { ...(await readPlace(session, flags)), message, retry_after, reason }
  const response = await session.admin.closeGate(action, body)
  if (response.status !== 200) throw refusal(`could not close the gate of ${action}`, response)
  session.printFields(response.body)
}

async function openGate(session: Session, action: string, flags: Flags): Promise<void> {
  const query = { ...(await readPlace(session, flags)), reason: flags.reason }
  const response = await session.admin.openGate(action, query)
  if (response.status !== 200) throw refusal(`could not open the gate of ${action}`, response)
  session.printFields(response.body)
}

/** What the catalog does not have may be the id of a retired service or plan: the broker decides. */
async function readPlace(session: Session, { service, plan }: Flags) {
  if (service === undefined) return { service_id: undefined, plan_id: plan }
  const offering = find(await readAdminCatalog(session), service)
  return { service_id: offering?.id ?? service, plan_id: find(offering?.plans, plan)?.id ?? plan }
}

function render(gates: readonly GateBody[]): string {
  if (gates.length === 0) return 'No gate is closed.\n'
  const rows = gates.map(({ action, service_id = '', plan_id = '', since, by, message }) => {
    return [action, service_id, plan_id, since, by, message]
  })
  return renderTable([['ACTION', 'SERVICE', 'PLAN', 'SINCE', 'BY', 'MESSAGE'], ...rows])
}
