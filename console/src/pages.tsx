import type { ComponentChildren } from 'preact'
import { Attention } from './pages/attention.tsx'
import { BatchPage } from './pages/batch.tsx'
import { Batches } from './pages/batches.tsx'
import { CatalogPage } from './pages/catalog.tsx'
import { Gates } from './pages/gates.tsx'
import { History } from './pages/history.tsx'
import { InstancePage } from './pages/instance.tsx'
import { Instances } from './pages/instances.tsx'
import { OperationPage } from './pages/operation.tsx'
import { Operations } from './pages/operations.tsx'
import { Sessions } from './pages/sessions.tsx'
import { TryIt } from './pages/try-it.tsx'
import { TryService } from './pages/try-service.tsx'
import { Upkeep } from './pages/upkeep.tsx'
import { Workers } from './pages/workers.tsx'

export const nav = [
  { title: '', links: [{ path: '', name: 'Attention' }] },
  {
    title: 'What runs',
    links: [
      { path: 'operations', name: 'Operations' },
      { path: 'instances', name: 'Instances' },
      { path: 'batches', name: 'Batches' },
    ],
  },
  {
    title: 'What is offered',
    links: [
      { path: 'catalog', name: 'Catalog' },
      { path: 'try', name: 'Try it' },
    ],
  },
  {
    title: 'The broker',
    links: [
      { path: 'workers', name: 'Workers and store' },
      { path: 'upkeep', name: 'Chores and registries' },
      { path: 'gates', name: 'Gates' },
      { path: 'sessions', name: 'Sessions' },
      { path: 'history', name: 'History' },
    ],
  },
]

/** Undefined where there is no such page. */
export function findPage([page = '', id, ...rest]: readonly string[]): ComponentChildren {
  if (rest.length > 0) return undefined
  if (id !== undefined) {
    if (page === 'operations') return <OperationPage key={id} id={id} />
    if (page === 'instances') return <InstancePage key={id} id={id} />
    if (page === 'batches') return <BatchPage key={id} id={id} />
    if (page === 'try') return <TryService key={id} id={id} />
    return undefined
  }
  if (page === '') return <Attention />
  if (page === 'operations') return <Operations />
  if (page === 'instances') return <Instances />
  if (page === 'batches') return <Batches />
  if (page === 'catalog') return <CatalogPage />
  if (page === 'workers') return <Workers />
  if (page === 'history') return <History />
  if (page === 'upkeep') return <Upkeep />
  if (page === 'gates') return <Gates />
  if (page === 'sessions') return <Sessions />
  if (page === 'try') return <TryIt />
  return undefined
}
