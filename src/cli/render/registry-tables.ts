import type { ChangeReport, RegisteredServiceBody, RegistriesBody, RegistryBody } from '../../client/index.ts'
import { toLine } from './printable.ts'
import { renderTable } from './table.ts'

/** A line for each registry, and one for each service. */
export function renderRegistries({ registries = [], services = [] }: RegistriesBody): string {
  if (registries.length === 0) return 'The broker has no registries.\n'
  const head = renderTable([
    ['REGISTRY', 'TYPE', 'STATE', 'LATEST ANSWER', 'NEXT RUN'],
    ...registries.map(toRegistryRow),
  ])
  if (services.length === 0) return head
  return `${head}\n${renderTable([['SERVICE', 'REGISTRY', 'VERSION', 'STATE', 'INSTANCES'], ...services.map(toServiceRow)])}`
}

/** What a sync has changed, a line each. */
export function renderChanges(report: ChangeReport | undefined): string {
  const rows = kinds.flatMap(kind =>
    (report?.[kind] ?? []).map(({ full_name, registry, bundle_version, tag, reason }) => [
      kind,
      toLine(full_name),
      toLine(bundle_version ?? tag ?? ''),
      toLine(`from ${registry}${reason === undefined ? '' : ` (${reason})`}`),
    ]),
  )
  return rows.length === 0 ? 'Nothing has changed.\n' : renderTable(rows)
}

const kinds = ['added', 'updated', 'returned', 'retired', 'deleted'] as const

function toRegistryRow({
  name,
  type,
  checked_at,
  failures = 0,
  partial,
  last_answer_at,
  next_at,
  last_problem = '',
}: RegistryBody) {
  const state =
    type === undefined
      ? 'not configured any more'
      : checked_at === undefined
        ? 'not asked yet'
        : failures > 0
          ? `failed ${failures} ${failures === 1 ? 'time' : 'times'}: ${last_problem}`
          : partial === true
            ? `partial: ${last_problem}`
            : last_problem === ''
              ? 'complete'
              : `complete; left out: ${last_problem}`
  return [name, type ?? '-', state, last_answer_at ?? '-', next_at ?? '-'].map(toLine)
}

function toServiceRow(service: RegisteredServiceBody) {
  const { name, registry, bundle_version, tag, retired_at, instances, revision } = service
  const count = instances.reduce((sum, use) => sum + use.count, 0)
  const older = instances.reduce((sum, use) => sum + (use.revision === revision ? 0 : use.count), 0)
  return [
    name,
    registry,
    bundle_version ?? (tag || '-'),
    retired_at === undefined ? 'offered' : `retired ${retired_at}`,
    older === 0 ? String(count) : `${count} (${older} of an older revision)`,
  ].map(toLine)
}
