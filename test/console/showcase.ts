import { startPostgres } from '../external/postgres.ts'
import { until } from './browser.ts'
import { makeFolder, provision, send, startReplica, stateOf } from './replicas.ts'

/** A broker with something of everything, and the pages that show it. For screenshots, and for whoever looks at all pages. */
export async function startShowcase() {
  const { folder, remove, mend, unmend } = makeFolder()
  const postgres = await startPostgres()
  const first = await startReplica(postgres.url, folder)
  let { url } = first
  await Promise.all(['orders', 'billing', 'reports'].map(id => provision(url, id)))
  await Promise.all(['sessions', 'search-cache'].map(id => provision(url, id, {}, 'cache')))
  const failed = await provision(url, 'archive', { name: 'archive', chaos: 'fails' })
  await provision(url, 'archive-2', { name: 'archive-2', chaos: 'fails' })
  const held = await provision(url, 'ledger', { name: 'ledger', chaos: 'held' }, 'held-database')
  // Taken over in the middle of its retries: by one that is not there before, and so cannot have it already.
  const taken = await provision(url, 'inventory', { name: 'inventory', chaos: 'retries' })
  const attempts = async () => {
    const { steps = [] } = await send<{ steps?: { attempts: number }[] }>(
      url,
      'GET',
      `/admin/operations/${taken.operation}`,
    )
    return steps.reduce((sum, step) => sum + step.attempts, 0)
  }
  await until(
    'it has tried six times',
    async () => (await attempts()) >= 6 && (await stateOf(url, taken.operation)) === 'running',
  )
  await first.kill()
  const second = await startReplica(postgres.url, folder)
  url = second.url
  const killedAt = await attempts()
  await until('it goes on', async () => (await attempts()) >= killedAt + 3)
  mend()
  await until('it succeeds', async () => (await stateOf(url, taken.operation)) === 'succeeded')
  unmend()
  const running = await provision(url, 'metrics', { name: 'metrics', chaos: 'retries' })
  await send(url, 'PUT', '/v2/service_instances/orders/service_bindings/app?accepts_incomplete=true', {
    service_id: 'database',
    plan_id: 'database-small',
  })
  await until('it is held', async () => (await stateOf(url, held.operation)) === 'held')
  await until('it fails', async () => (await stateOf(url, failed.operation)) === 'failed')
  const { services } = await send<{ services: { id: string; name: string; plans: { id: string }[] }[] }>(
    url,
    'GET',
    '/v2/catalog',
  )
  const greeter = services.find(({ name }) => name.includes('greeter'))
  const bundle = await send<{ operation?: string }>(url, 'PUT', '/v2/service_instances/hello?accepts_incomplete=true', {
    service_id: greeter?.id,
    plan_id: greeter?.plans[0]?.id,
  })
  await until(
    'the bundle has ended',
    async () =>
      (await stateOf(url, bundle.operation)) !== 'running' && (await stateOf(url, bundle.operation)) !== 'queued',
  )
  await send(url, 'POST', `/admin/operations/${running.operation}/run-now`, { reason: 'the network is back' })
  await send(url, 'PUT', '/admin/gates/update', {
    service_id: 'database',
    message: 'Databases cannot be changed until 9 pm.',
    retry_after: 600,
    reason: 'a new storage system',
  })
  const plan = await send<{ token: string }>(url, 'POST', '/admin/batches', {
    action: 'retry',
    operations: {},
    reason: 'the quota was raised',
    dry_run: true,
  })
  await send(url, 'POST', '/admin/batches', { token: plan.token })
  const batch = () => send<{ state: string }>(url, 'GET', `/admin/batches/${plan.token}`)
  await until('the batch has ended', async () => (await batch()).state === 'done')
  await send(url, 'POST', '/admin/batches', {
    action: 'observe',
    instances: { phase: 'ready' },
    reason: 'after the network was down',
    dry_run: true,
  })
  return {
    url,
    folder,
    mend,
    pages: {
      attention: '',
      operations: 'operations',
      'operation-taken-over': `operations/${taken.operation}`,
      'operation-running': `operations/${running.operation}`,
      'operation-failed': `operations/${failed.operation}`,
      'operation-held': `operations/${held.operation}`,
      'operation-bundle': `operations/${bundle.operation}`,
      instances: 'instances',
      instance: 'instances/orders',
      batches: 'batches',
      batch: `batches/${plan.token}`,
      catalog: 'catalog',
      workers: 'workers',
      upkeep: 'upkeep',
      gates: 'gates',
      sessions: 'sessions',
      history: 'history',
      'try-it': 'try',
      'try-service': 'try/database',
    },
    stop: async () => {
      await second.stop()
      await postgres.stop()
      remove()
    },
  }
}
