import type { ComponentChildren } from 'preact'
import type { Pages } from '../api/resource.ts'
import { useCatalog, withServices } from '../catalog.ts'
import { Link, query } from '../router.tsx'
import { Empty, Head } from '../ui/basics.tsx'
import { type Filter, Filters, filterOf } from '../ui/filters.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import { SavedViews } from '../ui/saved-views.tsx'
import type { Column } from '../ui/virtual-table.tsx'
import { BulkBar, useSelection } from './bulk-bar.tsx'

export const order = { name: 'order', label: 'Order', options: ['newest', 'oldest'] } as const

interface ListPageProps<Item> {
  readonly of: 'operations' | 'instances'
  readonly title: string
  readonly about: ComponentChildren
  readonly path: string
  readonly pages: Pages<Item>
  readonly views: readonly { readonly name: string; readonly query: string }[]
  /** What rows are chosen by; their order is no part of it. */
  readonly matching: readonly Filter[]
  readonly columns: readonly Column<Item>[]
}

/** A list with filters and views, of whose rows some, or all that match, can be acted on. */
export function ListPage<Item extends { readonly id: string }>(props: ListPageProps<Item>) {
  const { of, title, about, path, pages, views, matching, columns } = props
  useCatalog()
  const selection = useSelection(path, pages.items)
  return (
    <>
      <Head title={title} about={about} />
      <SavedViews page={of} preset={views} />
      <Filters of={withServices([...matching, order])} />
      <PagedTable
        label={title}
        pages={pages}
        columns={columns}
        keyOf={({ id }) => id}
        selected={selection.ids}
        onSelect={selection.select}
        empty={
          <Empty title={`No ${of === 'instances' ? 'instance' : 'operation'} fits`}>
            Take a filter away, or <Link to="try">provision something</Link>.
          </Empty>
        }
      />
      <BulkBar of={of} selection={selection} pages={pages} filter={filterOf(query.value, matching)} />
    </>
  )
}
