import { actOnMany, isMany, type ManyFlags } from '../act-on-many.ts'
import { adopt } from '../adopt-one.ts'
import { type CliCommand, parseInstanceId } from '../command.ts'
import { confirm } from '../confirm.ts'
import { readList } from '../read-list.ts'
import { refusal } from '../refusal.ts'
import { renderAbandoned } from '../render/abandoned.ts'
import { renderFields } from '../render/fields.ts'
import { describeOperation, renderActed, renderAllowed, renderBindings, renderInstances } from '../render/operators.ts'
import { onBroker, type Session } from '../session.ts'

export function defineCommand(program: CliCommand): void {
  const instances = program
    .command('instances')
    .description('look at the instances of a broker, and help those that are stuck')
    .examples('purser instances list --phase failed', 'purser instances move my-db --reason "its image is gone"')
  instances
    .command('list')
    .description('list instances, the newest first')
    .choiceOption('--phase <phase>', 'those in this phase', [
      'creating',
      'ready',
      'updating',
      'deleting',
      'failed',
      'deleted',
    ])
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
    .command('observe')
    .argument('[instance]', 'id of the instance', parseInstanceId)
    .description('look now at how an instance is, as the chore does on its schedule')
    .option('--reason <text>', 'why; it is kept in the history; needed with --query')
    .manyOptions()
    .yesOption()
    .connectionOptions()
    .examples(
      'purser instances observe my-db',
      'purser instances observe --query usable=false --reason "after the outage"',
    )
    .action(onBroker(observe))
  instances
    .command('move')
    .argument('[instance]', 'id of the instance', parseInstanceId)
    .description('let another revision of its service act on an instance')
    .option('--revision <id>', 'the revision (default: the one that is offered now)')
    .reasonOption()
    .manyOptions()
    .yesOption()
    .connectionOptions()
    .examples(
      'purser instances move my-db --reason "its image is gone"',
      'purser instances move --query revision_id=8fQ2kX --reason "its image is gone" --dry-run',
    )
    .action(onBroker(move))
  instances
    .command('abandon')
    .alias('purge')
    .argument('[instance]', 'id of the instance', parseInstanceId)
    .description('count an instance as deleted without running its deprovision')
    .option('--bindings', 'its bindings, too')
    .reasonOption()
    .manyOptions()
    .yesOption()
    .connectionOptions()
    .explain(
      'Nothing is removed: what it has made stays, and the answer lists what is known of it. Other tools call this',
      'purge, which is the same here; purser instances delete --force does it with the bindings.',
    )
    .examples(
      'purser instances abandon my-db --reason "its backend is gone" --yes',
      'purser instances abandon --query service_id=old-db --reason "its backend is gone" --dry-run',
    )
    .action(onBroker(abandon))
  instances
    .command('delete')
    .instanceArgument()
    .description('with --force: abandon an instance and all of its bindings')
    .requiredOption('--force', 'count it as deleted although nothing of it is removed')
    .reasonOption()
    .yesOption()
    .connectionOptions()
    .explain('What removes it is the deprovision of its service: purser deprovision <instance>.')
    .examples('purser instances delete my-db --force --reason "its backend is gone"')
    .action(onBroker((session: Session, id: string, flags: AbandonFlags) => abandon(session, id, withBindings(flags))))
  instances
    .command('sweep')
    .instanceArgument()
    .description('delete once more what is deleted: an instance, or one of its bindings')
    .option('--binding <id>', 'this binding of it')
    .reasonOption()
    .connectionOptions()
    .explain('For what a deletion has left behind. purser operations watch shows how it goes.')
    .examples('purser instances sweep my-db --reason "its bucket is still there"')
    .action(onBroker(sweep))
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
  await session.show(found, renderInstances(found.items))
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

async function observe(session: Session, id: string | undefined, flags: ManyFlags): Promise<void> {
  if (isMany('instance', id, flags)) return actOnMany(session, { kind: 'instance', action: 'observe' }, flags)
  const name = id ?? ''
  session.about.instance_id = name
  const response = await session.admin.observeInstance(name, { reason: flags.reason })
  if (response.status !== 202) throw refusal(`could not look at ${name}`, response, { instanceId: name })
  const { id: operation, action, state, instance_id } = response.body
  session.print(response.body, renderFields({ operation, action, state, instance_id }))
}

interface Flags extends ManyFlags {
  readonly reason: string
}

async function move(
  session: Session,
  id: string | undefined,
  flags: Flags & { readonly revision?: string },
): Promise<void> {
  const { revision, reason } = flags
  if (isMany('instance', id, flags))
    return actOnMany(session, { kind: 'instance', action: 'move', more: { revision } }, flags)
  const name = id ?? ''
  session.about.instance_id = name
  const response = await session.admin.moveInstance(name, { revision, reason })
  if (response.status !== 200) throw refusal(`could not move ${name}`, response, { instanceId: name })
  session.printFields(response.body)
}

async function sweep(session: Session, id: string, flags: Flags & { readonly binding?: string }): Promise<void> {
  session.about.instance_id = id
  const { binding: binding_id, reason } = flags
  const response = await session.admin.sweepInstance(id, { binding_id, reason })
  if (response.status !== 202) throw refusal(`could not sweep ${id}`, response, { instanceId: id })
  session.print(response.body, renderActed(response.body))
}

interface AbandonFlags extends Flags {
  readonly bindings?: boolean
}

function withBindings(flags: AbandonFlags): AbandonFlags {
  return { ...flags, bindings: true }
}

async function abandon(session: Session, id: string | undefined, flags: AbandonFlags): Promise<void> {
  const { bindings, reason, yes } = flags
  if (isMany('instance', id, flags))
    return actOnMany(session, { kind: 'instance', action: 'abandon', more: { bindings } }, flags)
  const name = id ?? ''
  session.about.instance_id = name
  const what = bindings === true ? `${name} and all of its bindings` : name
  await confirm(session, `Abandon ${what}? Nothing of it will be removed.`, yes)
  const response = await session.admin.abandonInstance(name, { bindings, reason })
  const { body } = response
  if (response.status !== 200) throw refusal(`could not abandon ${name}`, response, { instanceId: name })
  session.print(body, renderAbandoned(name, body))
}
