import { wallClock } from '../../clock.ts'
import { mostPlans, mostServices, type ServiceCounts } from '../../domain/fold-services.ts'
import type { OperationFields } from '../../events.ts'
import type { Observer } from '../../observer.ts'
import type { ActiveCount, EndedCount } from '../../reads.ts'
import { createBound, other } from './bounded.ts'
import { Counter, type Gauge, type HistogramCell, keyOf, type Metric, toText } from './cells.ts'
import { type MetricName, metricsTable } from './table.ts'

/** How people call a service and its plan; what is undefined is shown as `other`. */
export interface NamedPlan {
  readonly service?: string
  readonly plan?: string
}

/** The ledger in numbers, as the chore `survey` has counted it for all replicas. */
export interface LedgerReading extends ServiceCounts {
  readonly takenAt: number
  readonly active: readonly ActiveCount[]
  readonly ended: readonly EndedCount[]
}

/** What a scrape asks for. Whatever cannot be told now is absent. */
export interface Readings {
  readonly ledger?: LedgerReading
  readonly chores: readonly { readonly name: string; readonly lastSuccessAt?: number; readonly intervalMs?: number }[]
  readonly registries: readonly { readonly name: string; readonly up: boolean; readonly lastCompleteAt?: number }[]
  readonly slots: { readonly used: number; readonly free: number }
  readonly skewMs: number
}

export interface MetricsOptions {
  /** `sqlite`, `postgres`, … */
  readonly system: string
  nameOf(serviceId: string, planId: string): NamedPlan
  read(): Promise<Readings>
}

export interface Metrics {
  readonly observer: Observer
  /** What Prometheus reads. */
  text(): Promise<string>
}

/** As many services are told apart, and as many plans and steps of all of them together. */
const most = { services: mostServices, plans: mostPlans, steps: 1_000, routes: 200 }

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'PATCH', 'POST', 'DELETE', 'OPTIONS'])

/** Counts what the events tell, under labels that come from the catalog and from lists of words only. */
export function createMetrics(options: MetricsOptions): Metrics {
  const { system } = options
  const metrics = Object.fromEntries(
    Object.entries(metricsTable).map(([name, { make }]) => [name, make()]),
  ) as unknown as { readonly [Name in MetricName]: ReturnType<(typeof metricsTable)[Name]['make']> }
  const services = createBound(most.services)
  const plans = createBound(most.plans)
  const steps = createBound(most.steps)
  const routes = createBound(most.routes)
  const storeCells = new Map<string, HistogramCell>()
  /** By method, route and status: each poll needs one, and to put a key together takes longer than to count. */
  const requestCells = new Map<string, Map<string, Map<number, HistogramCell>>>()
  const sandboxes = new Map<string, { readonly needed: number; readonly unneeded: number }>()

  const serviceOf = ({ serviceId, planId }: Pick<OperationFields, 'serviceId' | 'planId'>): [string, string] => {
    const { service, plan } = options.nameOf(serviceId, planId)
    const label = service === undefined ? other : services(service)
    if (label === other || plan === undefined) return [label, other]
    return [label, plans(keyOf(label, plan)) === other ? other : plan]
  }

  const finished = (event: OperationFields, outcome: string, totalMs?: number) => {
    const [service, plan] = serviceOf(event)
    metrics.purser_operations_finished_total.add(1, event.action, service, plan, outcome)
    if (totalMs !== undefined)
      metrics.purser_operation_duration_seconds.observe(totalMs / 1000, keyOf(event.action, service, outcome))
  }

  const stepped = (
    event: OperationFields & { readonly step: string; readonly durationMs: number },
    outcome: 'succeeded' | 'retried' | 'failed',
  ) => {
    const [service] = serviceOf(event)
    const step = steps(keyOf(service, event.step)) === other ? other : event.step
    metrics.purser_step_attempts_total.add(1, service, event.action, step, outcome)
    metrics.purser_step_duration_seconds.observe(event.durationMs / 1000, keyOf(service, step))
  }

  const addRequestCell = (method: string, route: string, status: number): HistogramCell => {
    const cell = metrics.http_server_request_duration_seconds.cell(keyOf(method, route, String(status)))
    const byRoute = requestCells.get(method) ?? new Map<string, Map<number, HistogramCell>>()
    const byStatus = byRoute.get(route) ?? new Map<number, HistogramCell>()
    requestCells.set(method, byRoute.set(route, byStatus.set(status, cell)))
    return cell
  }

  const addStoreCell = (operation: string): HistogramCell => {
    const cell = metrics.db_client_operation_duration_seconds.cell(keyOf(system, operation))
    storeCells.set(operation, cell)
    return cell
  }

  const observer: Observer = {
    'request.ended'({ method = '', route, status, durationMs, error }) {
      const verb = methods.has(method) ? method : other
      const path = route === undefined ? 'none' : routes(route)
      const cell = requestCells.get(verb)?.get(path)?.get(status) ?? addRequestCell(verb, path, status)
      cell.observe(durationMs / 1000)
      if (error !== undefined && path.startsWith('/v2/'))
        metrics.purser_osb_rejections_total.add(1, osbAction(verb, path), error)
      if (path.startsWith('/admin/') && verb !== 'GET')
        metrics.purser_admin_actions_total.add(1, adminVerb(verb, path), adminOutcome(status))
    },
    'request.limited'({ limit }) {
      metrics.purser_requests_limited_total.add(1, limit)
    },
    'operation.accepted'(event) {
      metrics.purser_operations_accepted_total.add(1, event.action, ...serviceOf(event))
    },
    'operation.started'({ action, queueMs, attempt, takenOver }) {
      metrics.purser_operation_queue_seconds.observe(queueMs / 1000, action)
      const again = takenOver ? 'takeover' : 'resume'
      metrics.purser_lease_claims_total.add(1, attempt === 1 ? 'first' : again)
    },
    'operation.parked'({ action, reason }) {
      if (reason !== 'wait') metrics.purser_retries_scheduled_total.add(1, action, reason)
    },
    'operation.handedBack'({ reason }) {
      if (reason === 'lost') metrics.purser_leases_lost_total.add(1, 'lost')
    },
    'operation.interrupted'() {
      metrics.purser_leases_lost_total.add(1, 'store')
    },
    'operation.succeeded': event => finished(event, 'succeeded', event.totalMs),
    'operation.failed': event => finished(event, 'failed', event.totalMs),
    'operation.superseded': event => finished(event, 'superseded'),
    'step.succeeded': event => stepped(event, 'succeeded'),
    'step.failed': event => stepped(event, event.delayMs === undefined ? 'failed' : 'retried'),
    'binding.expiresSoon': event => metrics.purser_bindings_expired_total.add(1, serviceOf(event)[0], 'soon'),
    'binding.expired': event => metrics.purser_bindings_expired_total.add(1, serviceOf(event)[0], 'expired'),
    'store.called'({ operation, durationMs, refused }) {
      const cell = storeCells.get(operation) ?? addStoreCell(operation)
      cell.observe(durationMs / 1000)
      if (operation === 'claim') metrics.purser_claim_duration_seconds.observe(durationMs / 1000, '')
      if (refused) metrics.purser_fence_rejections_total.add(1)
    },
    'sandbox.listed'({ runtime, needed, unneeded }) {
      sandboxes.set(runtime, { needed, unneeded })
    },
  }

  function read(readings: Readings): ReadonlyMap<string, Metric> {
    const gauges = new Map<string, Metric>()
    const set = (name: MetricName, value: number | undefined, ...labels: readonly string[]) => {
      if (value === undefined) return
      const made = (gauges.get(name) ?? metricsTable[name].make()) as Gauge
      gauges.set(name, made)
      made.add(value, ...labels)
    }
    const setTime = (name: MetricName, at: number | undefined, ...labels: readonly string[]) =>
      set(name, at === undefined ? undefined : at / 1000, ...labels)
    if (readings.ledger !== undefined) readLedger(readings.ledger, { set, nameOf: options.nameOf })
    for (const { name, lastSuccessAt, intervalMs } of readings.chores) {
      setTime('purser_chore_last_success_timestamp_seconds', lastSuccessAt, name)
      setTime('purser_chore_interval_seconds', intervalMs, name)
    }
    for (const { name, up, lastCompleteAt } of readings.registries) {
      set('purser_registry_up', up ? 1 : 0, name)
      setTime('purser_registry_last_complete_timestamp_seconds', lastCompleteAt, name)
    }
    for (const [runtime, { needed, unneeded }] of sandboxes) {
      set('purser_sandboxes', needed, runtime, 'needed')
      set('purser_sandboxes', unneeded, runtime, 'leftover')
    }
    for (const state of ['used', 'free'] as const) set('purser_worker_slots', readings.slots[state], state)
    set('purser_store_clock_skew_seconds', readings.skewMs / 1000)
    const { user, system: kernel } = process.cpuUsage()
    set('process_cpu_seconds_total', (user + kernel) / 1e6)
    set('process_resident_memory_bytes', process.memoryUsage.rss())
    setTime('process_start_time_seconds', wallClock.now() - process.uptime() * 1000)
    return gauges
  }

  return {
    observer,
    async text() {
      const gauges = read(await options.read())
      const texts = Object.entries(metricsTable).map(([name, described]) => {
        const metric: Metric = gauges.get(name) ?? metrics[name as MetricName]
        // Without labels there is one series, from the beginning on.
        if (described.labels.length === 0 && metric.type === 'counter' && metric instanceof Counter) metric.add(0)
        return toText(name, described, metric)
      })
      return texts.join('')
    },
  }
}

interface Reading {
  set(name: MetricName, value: number | undefined, ...labels: readonly string[]): void
  readonly nameOf: MetricsOptions['nameOf']
}

/** The counts are bounded already: see `foldServices`. */
function readLedger(
  { takenAt, active, ended, instances, bindings, revisions }: LedgerReading,
  { set, nameOf }: Reading,
) {
  set('purser_snapshot_timestamp_seconds', takenAt / 1000)
  for (const action of new Set(active.map(count => count.action))) {
    const counts = active.filter(count => count.action === action)
    const age = (times: readonly (number | undefined)[]) =>
      Math.max(...times.map((since = takenAt) => takenAt - since)) / 1000
    set('purser_operation_oldest_due_seconds', age(counts.map(({ dueSince }) => dueSince)), action)
    set('purser_operation_oldest_running_seconds', age(counts.map(({ begunSince }) => begunSince)), action)
    for (const { state, operations, held, pastDeadline } of counts) {
      set('purser_operations', operations - held, action, state)
      set('purser_operations', held, action, 'held')
      set('purser_operations_past_deadline', pastDeadline, action)
    }
  }
  for (const { action, state, operations } of ended) set('purser_operations', operations, action, state)
  for (const { serviceId, planId, phase, usable, rows } of instances) {
    const { service = serviceId, plan = planId } = nameOf(serviceId, planId)
    set('purser_instances', rows, service, plan, phase, usable ? 'usable' : 'unusable')
  }
  for (const { serviceId, phase, rows } of bindings)
    set('purser_bindings', rows, nameOf(serviceId, '').service ?? serviceId, phase)
  for (const { serviceId, position, rows } of revisions)
    set('purser_instances_revision', rows, nameOf(serviceId, '').service ?? serviceId, position)
}

/** What a platform asked for, in the words of the OSB API. */
function osbAction(method: string, route: string): string {
  if (route.endsWith('/last_operation')) return 'poll'
  if (route === '/v2/catalog') return 'catalog'
  const words = route.includes('service_bindings') ? bindingActions : instanceActions
  return words.get(method) ?? other
}

const instanceActions = new Map([
  ['PUT', 'provision'],
  ['PATCH', 'update'],
  ['DELETE', 'deprovision'],
  ['GET', 'fetch'],
])
const bindingActions = new Map([
  ['PUT', 'bind'],
  ['DELETE', 'unbind'],
  ['GET', 'fetch'],
])

/** `/admin/operations/:id/retry` is a retry, and a PUT of `/admin/gates/:action` is `put gates`. */
function adminVerb(method: string, route: string): string {
  const [before = other, last = other] = route.split('/').slice(-2)
  return last.startsWith(':') ? `${method.toLowerCase()} ${before}` : last
}

function adminOutcome(status: number): string {
  if (status < 400) return 'done'
  if (status === 403) return 'forbidden'
  return status < 500 ? 'refused' : 'failed'
}
