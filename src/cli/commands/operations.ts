import type { RunLogBody } from '../../client/index.ts'
import { actions } from '../../protocol/actions.ts'
import { actOnMany, isMany, type ManyFlags } from '../act-on-many.ts'
import { type CliCommand, createNameParser } from '../command.ts'
import { confirm } from '../confirm.ts'
import { readList } from '../read-list.ts'
import { refusal } from '../refusal.ts'
import { renderFields } from '../render/fields.ts'
import { renderActed, renderAllowed, renderOperations, renderSteps, stateOf } from '../render/operators.ts'
import { toLine, toLines } from '../render/printable.ts'
import { onBroker, type Session } from '../session.ts'
import { watchOperations } from '../watch-operations.ts'

const states = ['queued', 'held', 'running', 'succeeded', 'failed', 'superseded']
const id = '0197a7c2-7f5e-7cc0-93a1-55d2e1a2b3c4'

export function defineCommand(program: CliCommand): void {
  const operations = program
    .command('operations')
    .description('look at the operations of a broker, and help those that are stuck')
    .examples('purser operations list --state failed', `purser operations retry ${id}`)
  operations
    .command('list')
    .description('list operations, the newest first')
    .choiceOption('--state <state>', 'those in this state', states)
    .choiceOption('--action <action>', 'those of this action', actions)
    .option('--instance <id>', 'those of one instance and of its bindings')
    .option('--binding <id>', 'those of one binding; needs --instance')
    .option('--service <id>', 'those of one service')
    .option('--plan <id>', 'those of one plan')
    .option('--platform <name>', 'those of one platform')
    .option('--step <name>', 'those that have failed in this step')
    .option('--error <fingerprint>', 'those that have failed so; purser errors shows the fingerprints')
    .option('--query <words>', 'those with these words in an id, a description or an error')
    .option('--after <time>', 'accepted from then on, such as 2026-01-01T00:00:00Z')
    .option('--before <time>', 'accepted earlier')
    .listOptions()
    .connectionOptions()
    .examples('purser operations list --state failed', 'purser operations list --instance my-db --output json')
    .action(onBroker(listOperations))
  operations
    .command('watch')
    .description('show the operations that are at work, and how they end, until Ctrl-C')
    .option('--instance <id>', 'those of one instance and of its bindings')
    .connectionOptions()
    .examples('purser operations watch', 'purser operations watch --instance my-db | jq .state')
    .action(onBroker(watchOperations))
  operations
    .command('show')
    .argument('<operation>', 'id of the operation', parseOperation)
    .description('show how an operation stands, what it waits for, and what may be done')
    .connectionOptions()
    .examples(`purser operations show ${id}`)
    .action(onBroker(showOperation))
  operations
    .command('retry')
    .argument('[operation]', 'id of the operation', parseOperation)
    .description('try a failed operation again, as a new one that skips what was done; one that is held goes on')
    .option('--reason <text>', 'why; it is kept in the history; needed with --query')
    .manyOptions()
    .yesOption()
    .connectionOptions()
    .examples(
      `purser operations retry ${id} --reason "the quota was raised"`,
      'purser operations retry --query state=failed --reason "the quota was raised" --dry-run',
    )
    .action(onBroker(verb('retry')))
  operations
    .command('cancel')
    .argument('[operation]', 'id of the operation', parseOperation)
    .description('stop an operation and undo what it has done')
    .option('--reason <text>', 'why; it is kept in the history; needed with --query')
    .manyOptions()
    .yesOption()
    .connectionOptions()
    .examples(`purser operations cancel ${id} --yes`)
    .action(onBroker(cancelOperation))
  operations
    .command('fail')
    .argument('[operation]', 'id of the operation', parseOperation)
    .description('end an operation as failed')
    .requiredOption('--message <text>', 'what the platform is told')
    .reasonOption()
    .manyOptions()
    .yesOption()
    .connectionOptions()
    .examples(`purser operations fail ${id} --message "The region is closed." --reason "ticket 7" --yes`)
    .action(onBroker(failOperation))
  operations
    .command('hold')
    .argument('[operation]', 'id of the operation', parseOperation)
    .description('let nobody run an operation until it is released, or its time is up')
    .option('--reason <text>', 'why; it is kept in the history; needed with --query')
    .manyOptions()
    .yesOption()
    .connectionOptions()
    .examples(`purser operations hold ${id} --reason "the backend is being moved"`)
    .action(onBroker(verb('hold')))
  operations
    .command('release')
    .argument('[operation]', 'id of the operation', parseOperation)
    .description('let an operation that is held go on, with all of its retries')
    .option('--reason <text>', 'why; it is kept in the history; needed with --query')
    .manyOptions()
    .yesOption()
    .connectionOptions()
    .examples(`purser operations release ${id}`)
    .action(onBroker(verb('release')))
  operations
    .command('run-now')
    .argument('[operation]', 'id of the operation', parseOperation)
    .description('do not wait for the next attempt of an operation')
    .option('--reason <text>', 'why; it is kept in the history; needed with --query')
    .manyOptions()
    .yesOption()
    .connectionOptions()
    .examples(`purser operations run-now ${id}`)
    .action(onBroker(verb('run-now')))
  operations
    .command('log')
    .argument('<operation>', 'id of the operation, as the broker gave it with its 202', parseOperation)
    .description('print the end of what the bundle of an operation printed')
    .connectionOptions()
    .examples(`purser operations log ${id}`)
    .action(onBroker(showLog))
}

interface ListFlags {
  readonly state?: string
  readonly action?: string
  readonly instance?: string
  readonly binding?: string
  readonly after?: string
  readonly before?: string
  readonly service?: string
  readonly plan?: string
  readonly platform?: string
  readonly step?: string
  readonly error?: string
  readonly query?: string
}

async function listOperations(session: Session, flags: ListFlags): Promise<void> {
  const { state, action, instance: instance_id, binding: binding_id, after, before } = flags
  const { service: service_id, plan: plan_id, platform, step, error, query: q } = flags
  const named = { service_id, plan_id, platform, step, error, q }
  const query = { state, action, instance_id, binding_id, after, before, ...named }
  const list = await readList(session, 'operations', page => session.admin.operations({ ...query, ...page }))
  await session.show(list, renderOperations(list.items))
}

async function showOperation(session: Session, name: string): Promise<void> {
  session.about.operation = name
  const response = await session.admin.operation(name)
  if (response.status !== 200) throw refusal(`could not read the operation ${name}`, response)
  const { steps = [], allowed_actions = {}, ...fields } = response.body
  const shown = { ...fields, state: stateOf(fields) }
  session.print(response.body, `${renderFields(shown)}${renderSteps(steps)}${renderAllowed(allowed_actions)}`)
}

/** On one operation, or on all that match. */
function verb(action: string) {
  return async (session: Session, name: string | undefined, flags: ManyFlags): Promise<void> => {
    if (isMany('operation', name, flags)) await actOnMany(session, { kind: 'operation', action }, flags)
    else await act(session, action, name ?? '', flags)
  }
}

async function cancelOperation(session: Session, name: string | undefined, flags: ManyFlags): Promise<void> {
  if (isMany('operation', name, flags)) return actOnMany(session, { kind: 'operation', action: 'cancel' }, flags)
  await confirm(session, `Cancel ${name}? What it has done is undone.`, flags.yes)
  await act(session, 'cancel', name ?? '', flags)
}

async function act(session: Session, action: string, name: string, { reason }: ManyFlags): Promise<void> {
  session.about.operation = name
  const response = await session.admin.actOnOperation(name, action, { reason })
  if (response.status !== 202) throw refusal(`could not ${action} ${name}`, response)
  session.print(response.body, renderActed(response.body))
}

interface FailFlags extends ManyFlags {
  readonly message: string
  readonly reason: string
}

async function failOperation(session: Session, name: string | undefined, flags: FailFlags): Promise<void> {
  const { message, reason, yes } = flags
  if (isMany('operation', name, flags))
    return actOnMany(session, { kind: 'operation', action: 'fail', more: { message } }, flags)
  session.about.operation = name
  await confirm(session, `Fail ${name}? The platform will see it, and its result never changes.`, yes)
  const response = await session.admin.failOperation(name ?? '', { message, reason })
  if (response.status !== 202) throw refusal(`could not fail ${name}`, response)
  session.print(response.body, renderActed(response.body))
}

const idAdvice = 'Give the operation that the broker answered with its 202.'
const parseOperation = createNameParser('the id of an operation', idAdvice)

async function showLog(session: Session, name: string): Promise<void> {
  const response = await session.admin.operationLog(name)
  const { runs } = response.body
  if (response.status !== 200 || !Array.isArray(runs)) throw refusal(`could not read the log of ${name}`, response)
  if (runs.length === 0 && session.options.output === 'text')
    session.note('No run of a bundle has ended in this operation: there is no log.')
  session.print(response.body, runs.map(render).join(''))
}

/** A run with what it printed, line by line as it was. */
function render({ name, exit, verdict, message, log }: RunLogBody): string {
  const end = [verdict, exit === undefined ? undefined : `exit code ${exit}`].filter(part => part !== undefined)
  const head = [name, end.join(', '), message].filter(part => part !== undefined && part !== '')
  return `--- ${toLine(head.join(': '))}\n${toLines(log)}`
}
