import { useState } from 'preact/hooks'
import { query, setQuery } from '../router.tsx'

export interface Filter {
  readonly name: string
  readonly label: string
  /** Free text where there are none. */
  readonly options?: readonly string[]
  /** What the field says while it is empty. */
  readonly hint?: string
  /** What `/` goes to. */
  readonly search?: boolean
  /** Shown where it is set, or where all are asked for. */
  readonly rare?: boolean
}

/** What is set, by name: only filters that the list knows, as the address has them. */
export function filterOf(given: URLSearchParams, filters: readonly Filter[]): Readonly<Record<string, string>> {
  const set = filters.flatMap(({ name }) => {
    const value = given.get(name) ?? ''
    return value === '' ? [] : [[name, value] as const]
  })
  return Object.fromEntries(set)
}

/** What the list is asked for. */
export function toQueryText(
  given: URLSearchParams,
  filters: readonly Filter[],
  more: Readonly<Record<string, string>> = {},
): string {
  return new URLSearchParams({ ...more, ...filterOf(given, filters) }).toString()
}

/** A field for each filter; what is set stands in the address. */
export function Filters({ of: filters }: { readonly of: readonly Filter[] }) {
  const [all, setAll] = useState(false)
  const shown = filters.filter(({ name, rare }) => !rare || all || (query.value.get(name) ?? '') !== '')
  return (
    <search class="filters">
      {shown.map(({ name, label, options, hint = 'Any', search }) => (
        <label key={name} class={search ? 'search' : undefined}>
          {label}
          {options === undefined ? (
            <input
              value={query.value.get(name) ?? ''}
              placeholder={hint}
              spellcheck={false}
              data-search={search ? '' : undefined}
              onChange={event => setQuery({ [name]: event.currentTarget.value.trim() })}
            />
          ) : (
            <select
              value={query.value.get(name) ?? ''}
              onChange={event => setQuery({ [name]: event.currentTarget.value })}
            >
              <option value="">{name === 'order' ? 'newest' : 'any'}</option>
              {options
                .filter(option => name !== 'order' || option !== 'newest')
                .map(option => (
                  <option key={option} value={option}>
                    {option}
                  </option>
                ))}
            </select>
          )}
        </label>
      ))}
      {shown.length < filters.length && (
        <button type="button" class="quiet" onClick={() => setAll(true)}>
          More filters
        </button>
      )}
    </search>
  )
}
