import { usePages } from '../api/resource.ts'
import type { InstanceBody } from '../api/types.ts'
import { planName, serviceName } from '../catalog.ts'
import { Link, query, toPath } from '../router.tsx'
import { ShortId, State, Tone } from '../ui/basics.tsx'
import { toQueryText } from '../ui/filters.tsx'
import { Time } from '../ui/time.tsx'
import type { Column } from '../ui/virtual-table.tsx'
import { ListPage, order } from './list-page.tsx'

export type Instance = InstanceBody & { readonly dashboard_url?: string }

const matching = [
  { name: 'platform', label: 'Platform', search: true },
  { name: 'service_id', label: 'Service' },
  { name: 'plan_id', label: 'Plan', rare: true },
  { name: 'revision_id', label: 'Revision', rare: true },
  { name: 'phase', label: 'Phase', options: ['creating', 'ready', 'updating', 'deleting', 'failed', 'deleted'] },
  { name: 'usable', label: 'Usable', options: ['true', 'false'] },
] as const

const views = [
  { name: 'All', query: '' },
  { name: 'Failed', query: 'phase=failed' },
  { name: 'Not usable', query: 'usable=false' },
  { name: 'Being deleted', query: 'phase=deleting' },
  { name: 'Deleted', query: 'phase=deleted' },
]

/** What was seen of it last, in a word. */
export function Health({ instance: { conditions = [], usable, phase } }: { readonly instance: Instance }) {
  const ready = conditions.find(({ type }) => type === 'Ready')
  const degraded = conditions.find(({ type, status }) => type === 'Degraded' && status)
  if (degraded !== undefined) return <Tone tone="warn">degraded</Tone>
  if (ready?.status === false) return <Tone tone="bad">not ready</Tone>
  if (!usable && phase === 'creating') return <span class="muted">not yet</span>
  if (!usable) return <Tone tone="bad">not usable</Tone>
  return ready === undefined ? <span class="muted">not looked at</span> : <Tone tone="good">healthy</Tone>
}

const columns: readonly Column<Instance>[] = [
  {
    title: 'Instance',
    width: 'minmax(130px, 1.4fr)',
    cell: ({ id }) => (
      <Link to={toPath('instances', id)}>
        <ShortId id={id} />
      </Link>
    ),
  },
  { title: 'Phase', width: '104px', cell: ({ phase }) => <State of={phase} /> },
  { title: 'Health', width: '122px', wide: true, cell: instance => <Health instance={instance} /> },
  { title: 'Service', width: 'minmax(90px, 1fr)', wide: true, cell: ({ service_id }) => serviceName(service_id) },
  {
    title: 'Plan',
    width: 'minmax(70px, 0.7fr)',
    wide: true,
    cell: ({ service_id, plan_id }) => planName(service_id, plan_id),
  },
  { title: 'Platform', width: 'minmax(70px, 0.7fr)', wide: true, cell: ({ platform }) => platform },
  {
    title: 'Revision',
    width: '90px',
    wide: true,
    cell: ({ revision_id }) => revision_id?.slice(0, 8) ?? <span class="muted">–</span>,
  },
  { title: 'Created', width: '84px', wide: true, cell: ({ created_at }) => <Time at={created_at} /> },
]

export function Instances() {
  const path = `admin/instances?${toQueryText(query.value, [...matching, order], { limit: '200' })}`
  const pages = usePages<Instance>(path, { every: 5_000 })
  const about =
    'What platforms have asked for, and how it is. Deleted ones are shown only where the phase asks for them.'
  return <ListPage of="instances" title="Instances" about={about} {...{ path, pages, views, matching, columns }} />
}
