import type { RegistriesBody, RegistryBody } from '../../client/index.ts'
import { count } from '../../shape/count.ts'
import { failure } from '../cli-error.ts'
import type { CliCommand } from '../command.ts'
import { refusal } from '../refusal.ts'
import { toLine } from '../render/printable.ts'
import { renderChanges, renderRegistries } from '../render/tables.ts'
import { onBroker, type Session } from '../session.ts'
import { watchChore } from '../watch-chore.ts'

export function defineCommand(program: CliCommand): void {
  const registries = program
    .command('registries')
    .description('show and ask the registries that bundles come from')
    .examples('purser registries list', 'purser registries sync')
  registries
    .command('list')
    .description('show how every registry answers, and what came from it')
    .connectionOptions()
    .examples('purser registries list', 'purser registries list --output json')
    .action(onBroker(showRegistries))
  registries
    .command('sync')
    .description('ask every registry now and wait until the catalog has what they offer')
    .connectionOptions()
    .examples('purser registries sync', 'purser registries sync --output json')
    .action(onBroker(syncRegistries))
}

async function showRegistries(session: Session): Promise<void> {
  const body = await readRegistries(session)
  session.print(body, renderRegistries(body))
}

/** Begins a sync, waits for its end in whichever replica that is, and says what it changed. */
async function syncRegistries(session: Session): Promise<void> {
  const response = await begin(session)
  const run = await watchChore(session, 'sync', response.body.due_at)
  const { registries = [], last_change } = await readRegistries(session)
  const changed = last_change !== undefined && last_change.at >= (run.started_at ?? '') ? last_change : undefined
  const result = { changes: changed?.report, registries }
  const failed = registries.filter(hasFailed)
  const ok = run.ok !== false && failed.length === 0
  if (ok || session.options.output === 'text') session.print(result, renderChanges(changed?.report))
  for (const { name, problems = [], warnings = [], vanished = [] } of registries) {
    for (const problem of problems) session.note(`problem: ${name}: ${toLine(problem)}`)
    for (const warning of warnings) session.note(`warning: ${name}: ${toLine(warning)}`)
    for (const { image, service, instances } of vanished)
      session.note(
        `vanished: ${name}: ${toLine(image)}, which ${count(instances, 'instance')} of ${toLine(service)} need`,
      )
  }
  if (ok) return
  const parts = {
    what: failed.length === 0 ? 'the sync failed' : `no answer from ${failed.map(({ name }) => name).join(', ')}`,
    why:
      failed.map(({ last_problem }) => last_problem ?? '').join('; ') || (run.message ?? 'the broker gave no reason'),
    next: 'What was known of them stays in the catalog; purser registries list shows since when they fail.',
  }
  throw failure(parts, result)
}

/** A sync that already runs may have asked too early to see what is new: we wait for its end and then begin another. */
async function begin(session: Session) {
  while (true) {
    const response = await session.admin.syncRegistries()
    if (response.status === 202) return response
    if (response.body.error !== 'ChoreRunning') throw refusal('could not ask the registries', response)
    session.note('waiting for a sync that is running already')
    await watchChore(session, 'sync')
  }
}

/** A registry that is no longer configured does not count. */
function hasFailed({ type, failures = 0 }: RegistryBody): boolean {
  return type !== undefined && failures > 0
}

async function readRegistries(session: Session): Promise<RegistriesBody> {
  const response = await session.admin.registries()
  const { registries, services, last_change } = response.body
  if (response.status !== 200 || !Array.isArray(registries)) throw refusal('could not read the registries', response)
  return { registries, services: services ?? [], last_change }
}
