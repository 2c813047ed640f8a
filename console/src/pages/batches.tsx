import { usePages } from '../api/resource.ts'
import type { BatchBody } from '../api/types.ts'
import { Link, toPath } from '../router.tsx'
import { Empty, Head } from '../ui/basics.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import { Time } from '../ui/time.tsx'
import type { Column } from '../ui/virtual-table.tsx'
import { BatchState, batchName } from './batch.tsx'

const columns: readonly Column<BatchBody>[] = [
  {
    title: 'Batch',
    width: 'minmax(150px, 1.2fr)',
    cell: batch => (
      <Link to={toPath('batches', batch.id)}>
        <strong>{batchName(batch)}</strong>
      </Link>
    ),
  },
  { title: 'State', width: '116px', cell: ({ state }) => <BatchState of={state} /> },
  { title: 'Who', width: 'minmax(80px, 0.6fr)', wide: true, cell: ({ by }) => by },
  {
    title: 'Why',
    width: 'minmax(120px, 2fr)',
    wide: true,
    cell: ({ reason }) => <span title={reason}>{reason}</span>,
  },
  { title: 'Asked for', width: '84px', wide: true, cell: ({ created_at }) => <Time at={created_at} /> },
]

export function Batches() {
  const pages = usePages<BatchBody>('admin/batches?limit=200', { every: 2_000 })
  return (
    <>
      <Head
        title="Batches"
        about="One verb on many operations or instances, after a dry run. A batch survives its replica, and acts on each item once."
      />
      <PagedTable
        label="Batches"
        pages={pages}
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          <Empty title="Nobody has begun a batch">
            Select rows in <Link to="operations">Operations</Link> or <Link to="instances">Instances</Link>, or all that
            match a filter, and choose what to do with them.
          </Empty>
        }
      />
    </>
  )
}
