import type { RegistriesBody, RegistryBody } from '../../client/index.ts'
import { failure } from '../cli-error.ts'
import type { CliIo } from '../io.ts'
import { refusal } from '../refusal.ts'
import { toLine } from '../render/printable.ts'
import { renderChanges, renderRegistries } from '../render/registries.ts'
import { type ConnectionOptions, openSession, type Session } from '../session.ts'
import { watchChore } from './chores.ts'

export async function showRegistries(io: CliIo, options: ConnectionOptions): Promise<void> {
  const session = openSession(io, options)
  const body = await readRegistries(session)
  session.print(body, renderRegistries(body))
}

/** Begins a sync, waits for its end in whichever replica that is, and says what it changed. */
export async function syncRegistries(io: CliIo, options: ConnectionOptions): Promise<void> {
  const session = openSession(io, options)
  const response = await begin(session)
  const run = await watchChore(session, 'sync', response.body.due_at ?? '')
  const { registries = [], last_change } = await readRegistries(session)
  const changed = last_change !== undefined && last_change.at >= (run.started_at ?? '') ? last_change : undefined
  session.print({ changes: changed?.report, registries }, renderChanges(changed?.report))
  const failed = registries.filter(hasFailed)
  for (const { name, problems = [] } of registries)
    for (const problem of problems) session.note(`problem: ${name}: ${toLine(problem)}`)
  if (run.ok === false || failed.length > 0)
    throw failure({
      what: failed.length === 0 ? 'the sync failed' : `no answer from ${failed.map(({ name }) => name).join(', ')}`,
      why:
        failed.map(({ last_problem }) => last_problem ?? '').join('; ') || (run.message ?? 'the broker gave no reason'),
      next: 'What was known of them stays in the catalog; purser registries list shows since when they fail.',
    })
}

/** What runs already may have asked before whatever is new was there: it is waited for, and then comes one of our own. */
async function begin(session: Session) {
  while (true) {
    const response = await session.admin.syncRegistries()
    if (response.status === 202) return response
    if (response.body.error !== 'ChoreRunning') throw refusal('could not ask the registries', response)
    session.note('waiting for a sync that is running already')
    await watchChore(session, 'sync', '')
  }
}

/** A registry that is not configured any more is nobody's failure. */
function hasFailed({ type, failures = 0 }: RegistryBody): boolean {
  return type !== undefined && failures > 0
}

async function readRegistries(session: Session): Promise<RegistriesBody> {
  const response = await session.admin.registries()
  const { registries, services, last_change } = response.body
  if (response.status !== 200 || !Array.isArray(registries)) throw refusal('could not read the registries', response)
  return { registries, services: services ?? [], last_change }
}
