import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { needsSignIn } from './api/client.ts'
import { findPage, nav } from './pages.tsx'
import { Link, navigate, segments } from './router.tsx'
import { loadMe, me, meProblem, SignIn, signOut } from './session.tsx'
import { nextTheme, theme } from './theme.ts'
import { Dialog, Empty, Problem, Skeleton } from './ui/basics.tsx'
import { Toasts } from './ui/toasts.tsx'

const helpOpen = signal(false)

export function App() {
  useEffect(listenToKeys, [])
  return (
    <>
      <div class="frame">
        <Side />
        <main>
          <Content />
        </main>
      </div>
      <SignIn />
      <Shortcuts />
      <Toasts />
    </>
  )
}

function Content(): ComponentChildren {
  const { value: path } = segments
  if (me.value === undefined) {
    if (needsSignIn.value) return <SignedOut />
    return meProblem.value === undefined ? <Skeleton /> : <Problem error={meProblem.value} retry={loadMe} />
  }
  const found = findPage(path)
  if (found === undefined)
    return (
      <Empty title="There is no such page">
        <Link to="./">Go to what needs attention</Link>
      </Empty>
    )
  return found
}

function SignedOut() {
  return <Empty title="You are signed out">Sign in to see what the broker does.</Empty>
}

function Side() {
  const [open, setOpen] = useState(false)
  const [first = ''] = segments.value
  useEffect(() => setOpen(false), [segments.value.join('/')])
  return (
    <header class={`side${open ? ' open' : ''}`}>
      <div class="side-top">
        <Link to="./" class="brand">
          <span class="mark" aria-hidden="true" /> Purser
        </Link>
        <button type="button" class="menu-button" aria-expanded={open} onClick={() => setOpen(!open)}>
          Menu
        </button>
      </div>
      <nav aria-label="Pages">
        {nav.map(({ title, links }) => (
          <div key={title}>
            {title !== '' && <h2>{title}</h2>}
            <ul>
              {links.map(({ path, name }) => (
                <li key={path}>
                  <Link to={path === '' ? './' : path} aria-current={first === path ? 'page' : undefined}>
                    {name}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <div class="user">
        {me.value !== undefined && (
          <p class="name">
            <strong class="ellipsis">{me.value.name}</strong>{' '}
            <span class="muted small">{me.value.roles.filter(role => role !== 'platform').join(', ')}</span>
          </p>
        )}
        <p class="row-of">
          <button type="button" class="quiet" onClick={nextTheme} aria-label={`Colours: ${theme.value}`}>
            {theme.value === 'auto' ? 'Auto' : theme.value === 'light' ? 'Light' : 'Dark'}
          </button>
          <button type="button" class="quiet" onClick={() => (helpOpen.value = true)} aria-label="Keys">
            Keys
          </button>
          {me.value !== undefined && me.value.name !== 'anonymous' && (
            <button type="button" class="quiet" onClick={() => void signOut()}>
              Sign out
            </button>
          )}
        </p>
      </div>
    </header>
  )
}

const keys: readonly (readonly [string, string, string])[] = [
  ['a', './', 'Attention'],
  ['o', 'operations', 'Operations'],
  ['i', 'instances', 'Instances'],
  ['b', 'batches', 'Batches'],
  ['c', 'catalog', 'Catalog'],
  ['w', 'workers', 'Workers and store'],
  ['u', 'upkeep', 'Chores and registries'],
  ['h', 'history', 'History'],
  ['t', 'try', 'Try it'],
]

function listenToKeys(): () => void {
  let going = 0
  const onKey = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement
    if (event.metaKey || event.ctrlKey || event.altKey || target.closest('input, textarea, select, dialog')) return
    if (event.key === '?') helpOpen.value = true
    if (event.key === '/') {
      const field = document.querySelector<HTMLElement>('[data-search]')
      if (field !== null) event.preventDefault()
      field?.focus()
    }
    if (event.key === 'g') {
      going = Date.now()
      return
    }
    const page = Date.now() - going < 1_500 ? keys.find(([key]) => key === event.key) : undefined
    going = 0
    if (page !== undefined) navigate(page[1])
  }
  addEventListener('keydown', onKey)
  return () => removeEventListener('keydown', onKey)
}

function Shortcuts() {
  return (
    <Dialog title="Keys" open={helpOpen.value} onClose={() => (helpOpen.value = false)}>
      <table class="plain">
        <tbody>
          {keys.map(([key, , name]) => (
            <tr key={key}>
              <td class="nowrap">
                <kbd>g</kbd> <kbd>{key}</kbd>
              </td>
              <td>{name}</td>
            </tr>
          ))}
          <tr>
            <td>
              <kbd>/</kbd>
            </td>
            <td>The first filter of a list</td>
          </tr>
          <tr>
            <td>
              <kbd>?</kbd>
            </td>
            <td>This list</td>
          </tr>
        </tbody>
      </table>
    </Dialog>
  )
}
