import { query, setQuery } from '../router.tsx'

export interface Filter {
  readonly name: string
  readonly label: string
  /** Free text where there are none. */
  readonly options?: readonly string[]
  /** What `/` goes to. */
  readonly search?: boolean
}

/** What the list is asked for: only filters that it knows, as the address has them. */
export function toQueryText(
  given: URLSearchParams,
  filters: readonly Filter[],
  more: Readonly<Record<string, string>> = {},
): string {
  const wanted = new URLSearchParams(more)
  for (const { name } of filters) {
    const value = given.get(name)
    if (value !== null && value !== '') wanted.set(name, value)
  }
  return wanted.toString()
}

/** A field for each filter; what is set stands in the address. */
export function Filters({ of: filters }: { readonly of: readonly Filter[] }) {
  return (
    <search class="filters">
      {filters.map(({ name, label, options, search }) => (
        <label key={name} class={search ? 'search' : undefined}>
          {label}
          {options === undefined ? (
            <input
              value={query.value.get(name) ?? ''}
              placeholder="Any"
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
    </search>
  )
}
