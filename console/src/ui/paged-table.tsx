import type { ComponentChildren } from 'preact'
import type { Pages } from '../api/resource.ts'
import { Problem, Skeleton } from './basics.tsx'
import { type TableProps, VirtualTable } from './virtual-table.tsx'

interface PagedProps<Item> extends Omit<TableProps<Item>, 'items' | 'more' | 'loadMore'> {
  readonly pages: Pages<Item>
  /** Shown where nothing fits. */
  readonly empty: ComponentChildren
}

/** A list of the operators' API: its rows, or what keeps them from being shown. */
export function PagedTable<Item>({ pages, empty, ...table }: PagedProps<Item>) {
  const { items, error, loading, more, stuck, loadMore, reload } = pages
  return (
    <>
      {error !== undefined && <Problem error={error} retry={reload} />}
      {loading && <Skeleton />}
      {items.length > 0 && (
        <VirtualTable
          {...table}
          items={items}
          more={more}
          // While it is stuck nobody asks; then the same rows ask again.
          {...(stuck === undefined ? { loadMore } : {})}
        />
      )}
      {stuck !== undefined && <Problem error={stuck} />}
      {items.length === 0 && !loading && error === undefined && <section class="card">{empty}</section>}
    </>
  )
}
