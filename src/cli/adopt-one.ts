import { type AdoptFlags, adoptMany } from './adopt-many.ts'
import { wrongUsage } from './cli-error.ts'
import { readJsonOption } from './parameters.ts'
import { refusal } from './refusal.ts'
import { renderFields } from './render/fields.ts'
import { toLine } from './render/printable.ts'
import type { Session } from './session.ts'

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

/** Adopts one instance, or all of a file. */
export async function adopt(session: Session, id: string | undefined, flags: AdoptOneFlags): Promise<void> {
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
