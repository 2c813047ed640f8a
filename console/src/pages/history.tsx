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
  readonly principal?: string
  readonly address?: string
  readonly verb?: string
  readonly reason?: string
  readonly message?: string
  readonly instance_id: string
  readonly operation_id?: string
  readonly action?: string
  readonly before?: Record<string, string>
  readonly after?: Record<string, string>
}

const filters = [
  { name: 'by', label: 'Who', search: true },
  {
    name: 'verb',
    label: 'What',
    options: [
      'retry',
      'cancel',
      'fail',
      'hold',
      'release',
      'run-now',
      'move',
      'abandon',
      'observe',
      'sweep',
      'adopt',
      'remove-orphan',
      'rotate-keys',
      'close-gate',
      'open-gate',
      'start-batch',
      'stop-batch',
      'run-chore',
      'sign-in',
      'refuse-sign-in',
      'end-session',
    ],
  },
  { name: 'instance_id', label: 'Instance' },
  { name: 'order', label: 'Order', options: ['newest', 'oldest'] },
] as const

/** Nobody is asked why. */
const needsNone: ReadonlySet<string> = new Set(['sign-in', 'end-session', 'run-chore'])

/** Whose session, which batch, chore or gate it was, and from where. */
function Broker({ principal, address, before, after }: Act) {
  const { batch, chore, action, service_id, plan_id } = { ...before, ...after }
  const words = [principal, batch, chore, action, service_id, plan_id].filter(Boolean).join(' ')
  return (
    <span title={words}>
      {words} {address !== undefined && <span class="muted">from {address}</span>}
    </span>
  )
}

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
    title: 'About',
    width: 'minmax(110px, 1fr)',
    cell: act => (act.instance_id === '' ? <Broker {...act} /> : <InstanceLink id={act.instance_id} />),
  },
  {
    title: 'Why',
    width: 'minmax(120px, 2fr)',
    wide: true,
    cell: ({ reason, message, verb = '' }) => {
      const why = reason ?? message
      if (why !== undefined) return <span title={why}>{why}</span>
      return !needsNone.has(verb) && <span class="muted">no reason was given</span>
    },
  },
]

export function History() {
  const pages = usePages<Act>(`admin/history?${toQueryText(query.value, filters, { limit: '200' })}`, { every: 5_000 })
  return (
    <>
      <Head
        title="History"
        about="What operators did by hand: who, what and why. Who signed in here, and who was refused."
      />
      <Filters of={filters} />
      <PagedTable
        label="History"
        pages={pages}
        columns={columns}
        keyOf={({ at, instance_id, verb, by, principal, address }) =>
          [at, instance_id, verb, by, principal, address].join(' ')
        }
        empty={
          <Empty title="Nobody has done anything by hand">What platforms ask for stands with their operations.</Empty>
        }
      />
    </>
  )
}
