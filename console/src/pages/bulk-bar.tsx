import { useEffect, useState } from 'preact/hooks'
import type { Pages } from '../api/resource.ts'
import type { BatchOrderBody } from '../api/types.ts'
import { may } from '../session.tsx'
import { type AskedBatch, BatchDialog } from './batch-dialog.tsx'
import { instanceVerbs, operationVerbs, verbOf } from './verbs.ts'

type Kind = 'operations' | 'instances'

/** What of a list is selected: rows by their ids, or all that match, also those that are not loaded. */
export interface Selection {
  readonly ids: ReadonlySet<string>
  readonly all: boolean
  select(ids: ReadonlySet<string>): void
  selectAll(): void
  clear(): void
}

const nothing: ReadonlySet<string> = new Set()

/** Another list, or other filters, begin without a selection: what is not seen is not acted on. */
export function useSelection<Item extends { readonly id: string }>(path: string, items: readonly Item[]): Selection {
  const [chosen, setChosen] = useState<{ path: string; ids: ReadonlySet<string>; all: boolean }>()
  useEffect(() => setChosen(undefined), [path])
  const { ids, all } = chosen?.path === path ? chosen : { ids: nothing, all: false }
  const loaded = items.map(({ id }) => id)
  return {
    ids: new Set(all ? loaded : loaded.filter(id => ids.has(id))),
    all,
    select: some => setChosen({ path, ids: some, all: false }),
    selectAll: () => setChosen({ path, ids: new Set(loaded), all: true }),
    clear: () => setChosen(undefined),
  }
}

interface BulkProps {
  readonly of: Kind
  readonly selection: Selection
  readonly pages: Pick<Pages<unknown>, 'items' | 'more'>
  /** As the list is filtered. */
  readonly filter: Readonly<Record<string, string>>
}

/** The same verb for each that is selected, or for all that match: as a batch, after a dry run. */
export function BulkBar({ of, selection, pages, filter }: BulkProps) {
  // As it was when the verb was chosen: the list behind goes on.
  const [asked, setAsked] = useState<AskedBatch | undefined>()
  const { ids, all, selectAll, clear } = selection
  if (ids.size === 0 && asked === undefined) return null
  const matching = pages.more
    ? `All that match, more than ${count(pages.items.length)}`
    : `All ${count(ids.size)} that match`
  const about = all ? matching : `${count(ids.size)} selected`
  const target: BatchOrderBody = all ? { [of]: toBody(filter) } : { ids: [...ids] }
  return (
    <section class="bulk" aria-label="What is selected">
      <strong>{about}</strong>
      {all ? (
        <button type="button" class="quiet" onClick={() => selection.select(ids)}>
          Only those that are loaded
        </button>
      ) : (
        <button type="button" class="quiet" onClick={selectAll}>
          All that match
        </button>
      )}
      <span class="grow" />
      {(of === 'operations' ? operationVerbs : instanceVerbs).map(verb => {
        const { words, role } = verbOf(verb)
        const why = may(role) ? undefined : `This needs the role ${role}.`
        return (
          <button
            key={verb}
            type="button"
            disabled={why !== undefined}
            title={why}
            onClick={() => setAsked({ verb, target, about })}
          >
            {words}
          </button>
        )
      })}
      <button type="button" class="quiet" onClick={clear}>
        Clear
      </button>
      <BatchDialog asked={asked} onClose={() => setAsked(undefined)} />
    </section>
  )
}

/** In a body, what is yes or no in a query is so. */
function toBody(filter: BulkProps['filter']) {
  const { usable, ...texts } = filter
  return usable === undefined ? texts : { ...texts, usable: usable === 'true' }
}

function count(number: number): string {
  return number.toLocaleString()
}
