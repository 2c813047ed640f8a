import { Counter, type Described, Gauge, Histogram } from './cells.ts'

/** Seconds: of requests and statements, of operations, which take up to a day, and of steps between the two. */
const quick = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
const usual = [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
const long = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400]

interface Row extends Described {
  make(): Counter | Gauge | Histogram
}

function counter(help: string, ...labels: readonly string[]) {
  return { help, labels, make: () => new Counter() } satisfies Row
}

function gauge(help: string, ...labels: readonly string[]) {
  return { help, labels, make: () => new Gauge() } satisfies Row
}

function histogram(help: string, bounds: readonly number[], ...labels: readonly string[]) {
  return { help, labels, make: () => new Histogram(bounds) } satisfies Row
}

const db = 'By the chore survey: equal on every replica, so take max and not sum.'

/** Every metric. docs/reference/metrics.md is made from it. */
export const metricsTable = {
  http_server_request_duration_seconds: histogram('How long requests took.', quick, 'method', 'route', 'status'),
  purser_osb_rejections_total: counter(
    'Requests of platforms that were refused, by the code of the error.',
    'action',
    'reason',
  ),
  purser_requests_limited_total: counter(
    'Requests that were refused because of a limit: the rate of a principal, or the quota of a platform.',
    'limit',
  ),
  purser_operations_accepted_total: counter('Operations that were accepted here.', 'action', 'service', 'plan'),
  purser_operations_finished_total: counter(
    'Operations that ended here: succeeded, failed or superseded.',
    'action',
    'service',
    'plan',
    'outcome',
  ),
  purser_operation_duration_seconds: histogram(
    'From the acceptance of an operation to its end.',
    long,
    'action',
    'service',
    'outcome',
  ),
  purser_operation_queue_seconds: histogram('How long operations were due before a worker had them.', usual, 'action'),
  purser_operations: gauge(
    `Operations: those that are queued, held or running, and those that ended within the last hour. ${db}`,
    'action',
    'state',
  ),
  purser_operation_oldest_due_seconds: gauge(
    `For how long the first of those that can be claimed waits. ${db}`,
    'action',
  ),
  purser_operation_oldest_running_seconds: gauge(`Since when the oldest that has begun was accepted. ${db}`, 'action'),
  purser_operations_past_deadline: gauge(`Active operations whose time is up. ${db}`, 'action'),
  purser_step_attempts_total: counter(
    'Calls of steps: succeeded, retried (failed, and tried again later) or failed for good.',
    'service',
    'action',
    'step',
    'outcome',
  ),
  purser_step_duration_seconds: histogram('How long calls of steps took.', usual, 'service', 'step'),
  purser_retries_scheduled_total: counter(
    'Operations that were parked to be tried again, by the reason.',
    'action',
    'reason',
  ),
  purser_lease_claims_total: counter(
    'Leases of operations: first, resume after a park, takeover from a worker that is gone.',
    'kind',
  ),
  purser_leases_lost_total: counter(
    'Attempts that ended without their lease: lost, or the store did not answer.',
    'reason',
  ),
  purser_fence_rejections_total: counter(
    'Writes that the ledger refused, since somebody else has the operation by now.',
  ),
  purser_claim_duration_seconds: histogram('How long claims of due operations took.', quick),
  purser_worker_slots: gauge('Places of this process for operations: used and free.', 'state'),
  purser_instances: gauge(`Instances; health is usable or unusable. ${db}`, 'service', 'plan', 'state', 'health'),
  purser_bindings: gauge(`Bindings. ${db}`, 'service', 'state'),
  purser_bindings_expired_total: counter(
    'Bindings that should be rotated (soon), or have expired (expired), as the chore expiry has found here.',
    'service',
    'event',
  ),
  purser_instances_revision: gauge(
    `Instances of services from registries whose revision is current, behind, or retired. ${db}`,
    'service',
    'position',
  ),
  db_client_operation_duration_seconds: histogram('How long calls of the store took.', quick, 'system', 'operation'),
  purser_store_clock_skew_seconds: gauge('How far the clock of the store is ahead of that of this process.'),
  purser_chore_last_success_timestamp_seconds: gauge(
    'When a chore last succeeded, in whichever replica; where that is not known, when this process started.',
    'chore',
  ),
  purser_chore_interval_seconds: gauge('The time between two runs of a chore.', 'chore'),
  purser_sandboxes: gauge(
    'Sandboxes that this process reaches: needed by an operation, or leftovers.',
    'runtime',
    'state',
  ),
  purser_registry_up: gauge('Whether a registry answered when it was asked last.', 'registry'),
  purser_registry_last_complete_timestamp_seconds: gauge(
    'When a registry last answered in full; where that is not known, when this process started.',
    'registry',
  ),
  purser_admin_actions_total: counter("Requests to the operators' API that change something.", 'verb', 'outcome'),
  purser_snapshot_timestamp_seconds: gauge('When the chore survey last counted.'),
  process_cpu_seconds_total: counter('CPU time of this process.'),
  process_resident_memory_bytes: gauge('Memory of this process.'),
  process_start_time_seconds: gauge('When this process was started.'),
}

export type MetricName = keyof typeof metricsTable
