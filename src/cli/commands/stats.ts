import type { JsonObject } from '../../protocol/json.ts'
import type { CliCommand } from '../command.ts'
import { refusal } from '../refusal.ts'
import { renderFields } from '../render/fields.ts'
import { renderTable } from '../render/tables.ts'
import { onBroker, type Session } from '../session.ts'

export function defineCommand(program: CliCommand): void {
  program
    .command('stats')
    .description('show what there is in numbers, as it was counted last')
    .connectionOptions()
    .examples('purser stats')
    .action(onBroker(showStats))
}

async function showStats(session: Session): Promise<void> {
  const response = await session.admin.stats()
  const { at, age_seconds, operations = {}, instances = [] } = response.body
  if (response.status !== 200 || at === undefined) throw refusal('could not read the numbers', response)
  session.print(response.body, `${renderFields({ at, age_seconds }, operations)}${renderInstances(instances)}`)
}

function renderInstances(instances: readonly JsonObject[]): string {
  if (instances.length === 0) return ''
  const rows = instances.map(({ service_id, plan_id, phase, usable, instances: count }) =>
    [service_id, plan_id, phase, usable, count].map(String),
  )
  return `\n${renderTable([['SERVICE', 'PLAN', 'PHASE', 'USABLE', 'INSTANCES'], ...rows])}`
}
