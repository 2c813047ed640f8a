import type {
  ChangeReport,
  ChoreBody,
  RegisteredServiceBody,
  RegistriesBody,
  RegistryBody,
  WireOffering,
  WirePlan,
} from '../../client/index.ts'
import { count } from '../../shape/count.ts'
import { toIndentedLine } from './printable.ts'

/** One line a plan; a service's name and description stand on a line of their own above its plans. */
export function renderCatalog(offerings: readonly WireOffering[]): string {
  if (offerings.length === 0) return 'The catalog is empty.\n'
  const rows = offerings.flatMap(offering => [
    [offering.name, '', '', offering.description],
    ...offering.plans.map(plan => [
      `  ${plan.name}`,
      plan.free === false ? 'paid' : 'free',
      describeUse(offering, plan),
      plan.description,
    ]),
  ])
  return renderTable([['SERVICE / PLAN', 'COST', 'CAN', 'DESCRIPTION'], ...rows])
}

function describeUse(offering: WireOffering, plan: WirePlan): string {
  const uses: string[] = []
  if (plan.bindable ?? offering.bindable) uses.push('bind')
  if (plan.plan_updateable ?? offering.plan_updateable) uses.push('change plan')
  return uses.join(', ') || '-'
}

export function renderChores(chores: readonly ChoreBody[]): string {
  const rows = chores.map(chore => {
    const { name, next_at = '-', started_at = '-' } = chore
    return [name, describeSchedule(chore), next_at, started_at, describeResult(chore)]
  })
  return renderTable([['CHORE', 'SCHEDULE', 'NEXT RUN', 'LATEST RUN', 'RESULT'], ...rows])
}

export function describeResult({ running, started_at, finished_at, ok, message = '' }: ChoreBody): string {
  if (running) return 'running'
  if (started_at === undefined) return '-'
  if (finished_at === undefined) return 'interrupted, to be taken over'
  return ok === false ? `failed: ${message}` : message
}

function describeSchedule({ pattern, time_zone }: ChoreBody): string {
  if (pattern === undefined) return 'off'
  return time_zone === undefined || time_zone === 'UTC' ? pattern : `${pattern} (${time_zone})`
}

export function renderRegistries({ registries = [], services = [] }: RegistriesBody): string {
  if (registries.length === 0) return 'The broker has no registries.\n'
  const rows = registries.map(registry => {
    const { name, type = '-', last_answer_at = '-', next_at = '-' } = registry
    return [name, type, describeState(registry), last_answer_at, next_at]
  })
  const head = renderTable([['REGISTRY', 'TYPE', 'STATE', 'LATEST ANSWER', 'NEXT RUN'], ...rows])
  const found = [['SERVICE', 'REGISTRY', 'VERSION', 'STATE', 'INSTANCES'], ...services.map(toServiceRow)]
  const problems = registries.flatMap(({ name, problems: own = [] }) => own.map(problem => [name, problem]))
  const warnings = registries.flatMap(({ name, warnings: own = [] }) => own.map(warning => [name, warning]))
  const vanished = registries.flatMap(({ name, vanished: own = [] }) =>
    own.map(({ image, service, instances }) => [name, image, service, String(instances)]),
  )
  return [
    head,
    ...(services.length === 0 ? [] : [renderTable(found)]),
    // The state of a registry names the first one only.
    ...(problems.length < 2 ? [] : [renderTable([['REGISTRY', 'PROBLEM'], ...problems])]),
    ...(warnings.length === 0 ? [] : [renderTable([['REGISTRY', 'WARNING'], ...warnings])]),
    ...(vanished.length === 0
      ? []
      : [renderTable([['REGISTRY', 'VANISHED IMAGE', 'SERVICE', 'INSTANCES'], ...vanished])]),
  ].join('\n')
}

function describeState({ type, checked_at, failures = 0, partial, last_problem = '' }: RegistryBody): string {
  if (type === undefined) return 'not configured any more'
  if (checked_at === undefined) return 'not asked yet'
  if (failures > 0) return `failed ${count(failures, 'time')}: ${last_problem}`
  if (partial === true) return `partial: ${last_problem}`
  return last_problem === '' ? 'complete' : `complete; left out: ${last_problem}`
}

function toServiceRow(service: RegisteredServiceBody): string[] {
  const { name, registry, bundle_version, tag, retired_at, instances, revision } = service
  const count = instances.reduce((sum, use) => sum + use.count, 0)
  const older = instances.reduce((sum, use) => sum + (use.revision === revision ? 0 : use.count), 0)
  return [
    name,
    registry,
    bundle_version ?? (tag || '-'),
    retired_at === undefined ? 'offered' : `retired ${retired_at}`,
    older === 0 ? String(count) : `${count} (${older} of an older revision)`,
  ]
}

export function renderChanges(report: ChangeReport = {}): string {
  const rows = kinds.flatMap(kind =>
    (report[kind] ?? []).map(({ full_name, registry, bundle_version, tag, reason }) => {
      const why = reason === undefined ? '' : ` (${reason})`
      return [kind, full_name, bundle_version ?? tag ?? '', `from ${registry}${why}`]
    }),
  )
  return rows.length === 0 ? 'Nothing has changed.\n' : renderTable(rows)
}

const kinds = ['added', 'updated', 'returned', 'retired', 'deleted'] as const

/** Columns as wide as their widest cell; the last one is not padded. */
export function renderTable(rows: readonly (readonly string[])[]): string {
  const table = rows.map(row => row.map(toIndentedLine))
  const widthOf = (column: number) => Math.max(...table.map(row => row[column]?.length ?? 0))
  const widths = table[0]?.map((_, column) => widthOf(column)) ?? []
  const renderRow = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
  return table.map(row => `${renderRow(row).trimEnd()}\n`).join('')
}
