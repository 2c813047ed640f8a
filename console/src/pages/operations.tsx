import { usePages } from '../api/resource.ts'
import { useSoon, useStream } from '../api/stream.ts'
import type { OperationBody } from '../api/types.ts'
import { serviceName } from '../catalog.ts'
import { Link, query, toPath } from '../router.tsx'
import { InstanceLink, State } from '../ui/basics.tsx'
import { toQueryText } from '../ui/filters.tsx'
import { duration, now, Time } from '../ui/time.tsx'
import type { Column } from '../ui/virtual-table.tsx'
import { ListPage, order } from './list-page.tsx'

const operationStates = ['queued', 'held', 'running', 'succeeded', 'failed', 'superseded']
const actions = ['provision', 'update', 'deprovision', 'bind', 'unbind', 'observe', 'sweep']

const matching = [
  { name: 'q', label: 'Words', hint: 'In ids, descriptions, errors', search: true },
  { name: 'state', label: 'State', options: operationStates },
  { name: 'action', label: 'Action', options: actions },
  { name: 'service_id', label: 'Service' },
  { name: 'instance_id', label: 'Instance' },
  { name: 'step', label: 'Failed step', rare: true },
  { name: 'error', label: 'Kind of failure', rare: true },
  { name: 'plan_id', label: 'Plan', rare: true },
  { name: 'platform', label: 'Platform', rare: true },
  { name: 'since', label: 'Accepted since', rare: true },
  { name: 'until', label: 'Accepted until', rare: true },
] as const

const views = [
  { name: 'All', query: '' },
  { name: 'Failed', query: 'state=failed' },
  { name: 'Running', query: 'state=running' },
  { name: 'Waiting', query: 'state=queued' },
  { name: 'Held', query: 'state=held' },
]

/** One that is held waits in the queue, for a decision. */
export function stateOf({ state, hold }: Pick<OperationBody, 'state' | 'hold'>): string {
  return hold !== undefined && state === 'queued' ? 'held' : state
}

export function errorOf({ error }: Pick<OperationBody, 'error'>): string | undefined {
  return typeof error === 'string' ? error : error?.message
}

const columns: readonly Column<OperationBody>[] = [
  {
    title: 'Operation',
    width: 'minmax(84px, 0.8fr)',
    cell: ({ id, action }) => (
      <Link to={toPath('operations', id)} title={id}>
        <strong>{action}</strong>
      </Link>
    ),
  },
  { title: 'State', width: '112px', cell: operation => <State of={stateOf(operation)} /> },
  { title: 'Instance', width: 'minmax(76px, 1fr)', cell: ({ instance_id }) => <InstanceLink id={instance_id} /> },
  { title: 'Service', width: 'minmax(90px, 0.8fr)', wide: true, cell: ({ service_id }) => serviceName(service_id) },
  {
    title: 'What it says',
    width: 'minmax(120px, 2.6fr)',
    wide: true,
    cell: operation => {
      const text = errorOf(operation) ?? operation.description
      return <span title={text}>{text ?? <span class="muted">–</span>}</span>
    },
  },
  {
    title: 'Took',
    width: '88px',
    wide: true,
    cell: ({ accepted_at, finished_at }) => {
      const end = finished_at === undefined ? now.value : Date.parse(finished_at)
      return duration(end - Date.parse(accepted_at))
    },
  },
  { title: 'Accepted', width: '84px', wide: true, cell: ({ accepted_at }) => <Time at={accepted_at} /> },
]

export function Operations() {
  const path = `admin/operations?${toQueryText(query.value, [...matching, order], { limit: '200' })}`
  const pages = usePages<OperationBody>(path, { every: 10_000 })
  useStream('admin/events', useSoon(pages.refresh, 700))
  const about = 'Each is one durable run of one action. The filters are in the address: keep it, or send it.'
  return <ListPage of="operations" title="Operations" about={about} {...{ path, pages, views, matching, columns }} />
}
