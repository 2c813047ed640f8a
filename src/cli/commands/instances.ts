import type { AbandonedBody } from '../../client/index.ts'
import { count } from '../../shape/count.ts'
import { type AdoptFlags, adoptMany } from '../adopt-many.ts'
import { wrongUsage } from '../cli-error.ts'
import { type CliCommand, parseInstanceId } from '../command.ts'
import { confirm } from '../confirm.ts'
import { readJsonOption } from '../parameters.ts'
import { readList } from '../read-list.ts'
import { refusal } from '../refusal.ts'
import { renderFields } from '../render/fields.ts'
import { describeOperation, renderAllowed, renderBindings, renderInstances } from '../render/operators.ts'
import { toLine } from '../render/printable.ts'
import { onBroker, type Session } from '../session.ts'

export function defineCommand(program: CliCommand): void {
  const instances = program
    .command('instances')
    .description('look at the instances of a broker, and help those that are stuck')
    .examples('purser instances list --phase failed', 'purser instances move my-db --reason "its image is gone"')
  instances
    .command('list')
    .description('list instances, the newest first')
    .option('--phase <phase>', 'creating, ready, updating, deleting, failed or deleted')
    .option('--service <id>', 'id of the service')
    .option('--plan <id>', 'id of the plan')
    .option('--revision <id>', 'those that are pinned to this revision')
    .listOptions()
    .connectionOptions()
    .examples('purser instances list --phase failed', 'purser instances list --limit 500 --output json')
    .action(onBroker(list))
  instances
    .command('show')
    .instanceArgument()
    .description('show how an instance stands, its bindings, and what may be done')
    .connectionOptions()
    .examples('purser instances show my-db')
    .action(onBroker(show))
  instances
    .command('move')
    .instanceArgument()
    .description('let another revision of its service act on an instance')
    .option('--revision <id>', 'the revision (default: the one that is offered now)')
    .reasonOption()
    .connectionOptions()
    .examples('purser instances move my-db --reason "its image is gone"')
    .action(onBroker(move))
  instances
    .command('abandon')
    .instanceArgument()
    .description('count an instance as deleted without running its deprovision')
    .option('--bindings', 'its bindings, too')
    .reasonOption()
    .yesOption()
    .connectionOptions()
    .explain('Nothing is removed: what it has made stays, and the answer lists what is known of it.')
    .examples('purser instances abandon my-db --reason "its backend is gone" --yes')
    .action(onBroker(abandon))
  instances
    .command('adopt')
    .argument('[instance]', 'id of the instance', parseInstanceId)
    .description('take over what another broker made: one instance, or all of a file')
    .option('--file <file>', 'instances and bindings: a JSON object a line, or a list in JSON or YAML; - is stdin')
    .option('--service <id>', 'id of its service')
    .option('--plan <id>', 'id of its plan')
    .option('--params <json|@file>', 'what its user asked for')
    .option('--context <json|@file>', "the platform's context, with organization_guid and space_guid")
    .option('--state <json|@file>', "the state that the service's actions read")
    .option('--dashboard-url <url>', 'its dashboard')
    .option('--platform <name>', 'the platform that it belongs to (default: default)')
    .option('--revision <id>', 'the revision of a bundle (default: the one that is offered now)')
    .option('--dry-run', 'change nothing: say what would happen')
    .reasonOption()
    .connectionOptions()
    .explain(
      'Nothing is run: what was made stays as it is. What is here already with the same content is skipped, so that a',
      'file can be sent again. Exit code 6: some of a file were refused. The fields of a file are those of',
      'POST /admin/instances/:id/adopt, with instance_id; a line with a binding_id is a binding.',
    )
    .examples(
      'purser instances adopt --file instances.ndjson --dry-run --reason "leaving the old broker"',
      'purser instances adopt my-db --service db --plan small --state \'{"database":"d1"}\' --reason "by hand"',
    )
    .action(onBroker(adopt))
}

interface ListFlags {
  readonly phase?: string
  readonly service?: string
  readonly plan?: string
  readonly revision?: string
}

async function list(session: Session, { phase, service, plan, revision }: ListFlags): Promise<void> {
  const query = { phase, service_id: service, plan_id: plan, revision_id: revision }
  const found = await readList(session, 'instances', page => session.admin.instances({ ...query, ...page }))
  session.print(found, renderInstances(found.items))
}

async function show(session: Session, id: string): Promise<void> {
  session.about.instance_id = id
  const response = await session.admin.instance(id)
  if (response.status !== 200) throw refusal(`could not read the instance ${id}`, response, { instanceId: id })
  const { bindings = [], last_operation, allowed_actions = {}, ...fields } = response.body
  const last = last_operation && { last_operation: describeOperation(last_operation) }
  const text = [renderFields({ ...fields }, last), renderBindings(bindings), renderAllowed(allowed_actions)]
  session.print(response.body, text.join(''))
}

interface Flags {
  readonly reason: string
}

async function move(session: Session, id: string, flags: Flags & { readonly revision?: string }): Promise<void> {
  session.about.instance_id = id
  const { revision, reason } = flags
  const response = await session.admin.moveInstance(id, { revision, reason })
  if (response.status !== 200) throw refusal(`could not move ${id}`, response, { instanceId: id })
  session.printFields(response.body)
}

interface AbandonFlags extends Flags {
  readonly bindings?: boolean
  readonly yes?: boolean
}

async function abandon(session: Session, id: string, { bindings, reason, yes }: AbandonFlags): Promise<void> {
  session.about.instance_id = id
  const what = bindings === true ? `${id} and all of its bindings` : id
  await confirm(session, `Abandon ${what}? Nothing of it will be removed.`, yes)
  const response = await session.admin.abandonInstance(id, { bindings, reason })
  const { body } = response
  if (response.status !== 200) throw refusal(`could not abandon ${id}`, response, { instanceId: id })
  session.print(body, renderAbandoned(id, body))
}

function renderAbandoned(id: string, { ended, remains }: AbandonedBody): string {
  const { revision, dashboard_url, state_keys = [], sandboxes = [], bindings = [], quiet_until } = remains ?? {}
  const left = [
    dashboard_url && `dashboard: ${dashboard_url}`,
    state_keys.length > 0 && `what its state named: ${state_keys.join(', ')}`,
    sandboxes.length > 0 && `sandboxes, if they still run: ${sandboxes.join(', ')}`,
    ...bindings.map(({ id: name, state_keys: keys }) => `binding ${name}: ${keys.join(', ') || 'no state'}`),
    revision && `what acted on it: revision ${revision}`,
  ].filter(line => typeof line === 'string')
  return [
    `${id} counts as deleted${bindings.length === 0 ? '' : `, with ${count(bindings.length, 'binding')}`}.`,
    ended && `Its ${ended.action} ${ended.operation} has ended: ${ended.state}.`,
    left.length === 0 ? 'The broker knows of nothing that is left.' : 'Remove by hand what is left of:',
    ...left.map(line => `  ${line}`),
    quiet_until && `Nothing is created under this id before ${quiet_until}: a call may still be on its way.`,
  ]
    .filter(line => typeof line === 'string' && line !== '')
    .map(line => `${String(line).startsWith('  ') ? '  ' : ''}${toLine(String(line))}\n`)
    .join('')
}

interface AdoptOneFlags extends AdoptFlags {
  readonly file?: string
  readonly service?: string
  readonly plan?: string
  readonly params?: string
  readonly context?: string
  readonly state?: string
  readonly dashboardUrl?: string
  readonly platform?: string
  readonly revision?: string
}

async function adopt(session: Session, id: string | undefined, flags: AdoptOneFlags): Promise<void> {
  const { file, service: service_id, plan: plan_id, reason, dryRun: dry_run } = flags
  if (file !== undefined && id === undefined) return adoptMany(session, file, flags)
  if (id === undefined || file !== undefined || service_id === undefined || plan_id === undefined)
    throw wrongUsage({
      what: 'it is not clear what to adopt',
      why: 'one instance needs its id, --service and --plan; many need --file, and no id',
      next: 'purser help instances adopt shows both ways.',
    })
  session.about.instance_id = id
  const read = (flag: string, value?: string) => value && readJsonOption(flag, value, session.io.cwd)
  const response = await session.admin.adoptInstance(id, {
    service_id,
    plan_id,
    parameters: await read('--params', flags.params),
    context: await read('--context', flags.context),
    state: await read('--state', flags.state),
    dashboard_url: flags.dashboardUrl,
    platform: flags.platform,
    revision: flags.revision,
    reason,
    dry_run,
  })
  if (response.status >= 300) throw refusal(`could not adopt ${id}`, response, { instanceId: id })
  const { warnings = [], bindings: _none, ...fields } = response.body
  for (const warning of warnings) session.note(`warning: ${toLine(warning)}`)
  session.print(response.body, renderFields({ ...fields }))
}
