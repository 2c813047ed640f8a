import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core'
import type { ComponentChildren } from 'preact'
import { useEffect, useReducer, useRef, useState } from 'preact/hooks'

export interface Column<Item> {
  readonly title: string
  /** A track of a CSS grid. */
  readonly width: string
  /** Left out where there is little room. */
  readonly wide?: boolean
  cell(item: Item): ComponentChildren
}

export interface TableProps<Item> {
  readonly label: string
  readonly columns: readonly Column<Item>[]
  readonly items: readonly Item[]
  keyOf(item: Item): string
  readonly more?: boolean
  loadMore?(): void
  readonly selected?: ReadonlySet<string>
  onSelect?(keys: ReadonlySet<string>): void
}

const rowHeight = 44

/** A list of any length: only the rows that can be seen, and some more, are in the page. The next page is asked for ahead. */
export function VirtualTable<Item>(props: TableProps<Item>) {
  const { label, columns, items, keyOf, more = false, loadMore, selected, onSelect } = props
  const scroller = useRef<HTMLDivElement>(null)
  const [, render] = useReducer((turn: number) => turn + 1, 0)
  const options: VirtualizerOptions<HTMLDivElement, Element> = {
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => render(0),
  }
  const [virtualizer] = useState(() => new Virtualizer<HTMLDivElement, Element>(options))
  virtualizer.setOptions(options)
  useEffect(() => virtualizer._didMount(), [virtualizer])
  useEffect(() => virtualizer._willUpdate())
  const rows = virtualizer.getVirtualItems()
  const last = rows.at(-1)?.index ?? 0
  useEffect(() => {
    if (more && last >= items.length - 30) loadMore?.()
  }, [more, last, items.length, loadMore === undefined])
  const grid = columns.map(({ width }) => width).join(' ')
  const narrow = columns.map(({ width, wide }) => (wide ? undefined : width)).filter(width => width !== undefined)
  const style = {
    '--grid': onSelect ? `34px ${grid}` : grid,
    '--narrow': onSelect ? `34px ${narrow.join(' ')}` : narrow.join(' '),
  }
  const toggle = (key: string, on: boolean) => {
    const changed = new Set(selected)
    if (on) changed.add(key)
    else changed.delete(key)
    onSelect?.(changed)
  }
  const allOn = items.length > 0 && items.every(item => selected?.has(keyOf(item)))
  return (
    <div class="table" role="table" aria-label={label} aria-rowcount={more ? -1 : items.length + 1} style={style}>
      <div role="rowgroup">
        <div class="row table-head" role="row">
          {onSelect && (
            <span role="columnheader">
              <input
                type="checkbox"
                aria-label="Select all that are loaded"
                checked={allOn}
                onChange={event => onSelect(event.currentTarget.checked ? new Set(items.map(keyOf)) : new Set())}
              />
            </span>
          )}
          {columns.map(({ title, wide }) => (
            <span key={title} role="columnheader" class={wide ? 'wide' : undefined}>
              {title}
            </span>
          ))}
        </div>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <div class="scroller" ref={scroller} role="rowgroup" tabIndex={0} aria-label={`${label}, rows`}>
        <div class="canvas" style={{ height: `${virtualizer.getTotalSize()}px` }}>
          {rows.map(({ index, start }) => {
            const item = items[index]
            if (item === undefined) return null
            const key = keyOf(item)
            return (
              <div
                key={key}
                class={`row${selected?.has(key) ? ' selected' : ''}`}
                role="row"
                aria-rowindex={index + 2}
                style={{ transform: `translateY(${start}px)` }}
              >
                {onSelect && (
                  <span role="cell">
                    <input
                      type="checkbox"
                      aria-label={`Select ${key}`}
                      checked={selected?.has(key) ?? false}
                      onChange={event => toggle(key, event.currentTarget.checked)}
                    />
                  </span>
                )}
                {columns.map(({ title, wide, cell }) => (
                  <span key={title} role="cell" class={wide ? 'wide' : undefined}>
                    {cell(item)}
                  </span>
                ))}
              </div>
            )
          })}
        </div>
      </div>
      <p class="table-foot">
        {items.length.toLocaleString()} {items.length === 1 ? 'row' : 'rows'}
        {more ? ' so far; more come as you scroll' : ''}
      </p>
    </div>
  )
}
