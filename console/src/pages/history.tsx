import { usePages } from '../api/resource.ts'
import { Link, query, toPath } from '../router.tsx'
import { Empty, Head, InstanceLink } from '../ui/basics.tsx'
import { Filters, toQueryText } from '../ui/filters.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import { Time } from '../ui/time.tsx'
import type { Column } from '../ui/virtual-table.tsx'

interface Act {
  readonly at: string
  readonly by?: string
  readonly verb?: string
  readonly reason?: string
  readonly instance_id: string
  readonly operation_id?: string
  readonly action?: string
}

const filters = [
  { name: 'by', label: 'Who', search: true },
  {
    name: 'verb',
    label: 'What',
    options: ['retry', 'cancel', 'fail', 'hold', 'release', 'run-now', 'move', 'abandon', 'observe', 'sweep', 'adopt'],
  },
  { name: 'instance_id', label: 'Instance' },
  { name: 'order', label: 'Order', options: ['newest', 'oldest'] },
] as const

const columns: readonly Column<Act>[] = [
  { title: 'When', width: '84px', cell: ({ at }) => <Time at={at} /> },
  { title: 'Who', width: 'minmax(80px, 0.7fr)', wide: true, cell: ({ by }) => by },
  {
    title: 'What',
    width: 'minmax(90px, 0.8fr)',
    cell: ({ verb, action, operation_id }) =>
      operation_id === undefined ? (
        <strong>{verb}</strong>
      ) : (
        <Link to={toPath('operations', operation_id)}>
          <strong>{verb}</strong> {action}
        </Link>
      ),
  },
  {
    title: 'Instance',
    width: 'minmax(110px, 1fr)',
    cell: ({ instance_id }) => instance_id !== '' && <InstanceLink id={instance_id} />,
  },
  {
    title: 'Why',
    width: 'minmax(120px, 2fr)',
    wide: true,
    cell: ({ reason }) => <span title={reason}>{reason ?? <span class="muted">no reason was given</span>}</span>,
  },
]

export function History() {
  const pages = usePages<Act>(`admin/history?${toQueryText(query.value, filters, { limit: '200' })}`, { every: 5_000 })
  return (
    <>
      <Head title="History" about="What operators did by hand: who, what and why." />
      <Filters of={filters} />
      <PagedTable
        label="History"
        pages={pages}
        columns={columns}
        keyOf={({ at, instance_id, verb }) => `${at} ${instance_id} ${verb}`}
        empty={
          <Empty title="Nobody has done anything by hand">What platforms ask for stands with their operations.</Empty>
        }
      />
    </>
  )
}
