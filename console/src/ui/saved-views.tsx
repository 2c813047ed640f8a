import { useState } from 'preact/hooks'
import { Link, query } from '../router.tsx'

interface View {
  readonly name: string
  readonly query: string
}

/** Views that everybody has, and those that were saved in this browser. */
export function SavedViews({ page, preset }: { readonly page: string; readonly preset: readonly View[] }) {
  const key = `purser-views-${page}`
  const [saved, setSaved] = useState<readonly View[]>(() => readViews(key))
  const [naming, setNaming] = useState(false)
  const current = query.value.toString()
  const isKnown = [...preset, ...saved].some(view => view.query === current)
  const keep = (views: readonly View[]) => {
    setSaved(views)
    localStorage.setItem(key, JSON.stringify(views))
  }
  const save = (event: SubmitEvent) => {
    event.preventDefault()
    const name = String(new FormData(event.currentTarget as HTMLFormElement).get('name') ?? '').trim()
    if (name !== '') keep([...saved.filter(view => view.name !== name), { name, query: current }])
    setNaming(false)
  }
  return (
    <nav class="views" aria-label="Saved views">
      {[...preset, ...saved].map((view, at) => (
        <span key={view.name} class={`view${view.query === current ? ' on' : ''}`}>
          <Link
            to={view.query === '' ? page : `${page}?${view.query}`}
            aria-current={view.query === current ? 'true' : undefined}
          >
            {view.name}
          </Link>
          {at >= preset.length && (
            <button
              type="button"
              class="icon"
              aria-label={`Remove the view ${view.name}`}
              onClick={() => keep(saved.filter(({ name }) => name !== view.name))}
            >
              ×
            </button>
          )}
        </span>
      ))}
      {!isKnown &&
        (naming ? (
          <form onSubmit={save}>
            <input name="name" aria-label="Name of the view" placeholder="Name, then Enter" autofocus />
          </form>
        ) : (
          <button type="button" class="quiet" onClick={() => setNaming(true)}>
            Save this view
          </button>
        ))}
    </nav>
  )
}

function readViews(key: string): readonly View[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? '[]')
    return Array.isArray(stored)
      ? stored.filter(view => typeof view?.name === 'string' && typeof view?.query === 'string')
      : []
  } catch {
    return []
  }
}
