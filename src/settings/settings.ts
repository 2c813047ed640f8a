import { cron, decimal, duration, flag, oneOf, size, text, wholeNumber } from '../shape/fields.ts'
import { explain } from '../shape/mistake.ts'
import { fromCode, showPath } from '../shape/place.ts'
import { read } from '../shape/read.ts'
import {
  fallback,
  field,
  list,
  object,
  optional,
  type Read,
  type Rule,
  type Shape,
  section,
  type Written,
} from '../shape/shape.ts'
import { ledgerDefaults } from '../store/options.ts'
import { encryption } from './encryption.ts'
import { history } from './history.ts'
import { limits, quotas } from './limits.ts'

const ledger = section({
  schema: fallback(
    text({
      rule: 'small letters, digits and _, at most 40, not a digit first',
      allows: /^[a-z_][a-z0-9_]{0,39}$/,
      doc: "one for each broker that shares a database: PostgreSQL's schema, or what stands before the names of MongoDB's collections",
    }),
    ledgerDefaults.schema,
  ),
  poolSize: fallback(wholeNumber(1, 1000, 'connections of one replica'), ledgerDefaults.poolSize),
  connectTimeout: fallback(
    duration('100ms', '10m', 'how long to wait for a connection; then the request is answered 503'),
    ledgerDefaults.connectTimeout,
  ),
  statementTimeout: fallback(duration('100ms', '1h', 'the same for a statement'), ledgerDefaults.statementTimeout),
})

/** What a broker needs to know of the server that it is behind. */
export const serverFields = {
  publicUrl: optional(
    field<string, string>(
      {
        kind: 'text',
        rule: 'an http or https URL without user, query and fragment',
        doc: 'how platforms and browsers reach the broker; without it, URLs are made from the Host header',
      },
      toPublicUrl,
    ),
  ),
  hosts: fallback(
    list(
      text({
        rule: 'a host name or an IP address (IPv6 in brackets), without a port',
        allows: name => /^([\w.-]+|\[[\da-fA-F:.]+\])$/.test(name) && URL.canParse(`http://${name}`),
      }),
      {
        rule: 'a list of host names',
        doc: "the names that requests may come under, besides this machine's own and `server.publicUrl`; others are answered 421. Without the list, a broker with credentials answers under any name, one without only under those",
      },
    ),
    [],
  ),
  bodyLimit: fallback(size('1KB', '64MB', 'the longest request body; beyond it 413'), '1MB'),
  syncTimeout: fallback(duration('1s', '1h', 'how long a synchronous request waits for its operation'), '55s'),
  shutdownGrace: fallback(
    duration('0s', '1h', 'how long running requests and operations may go on when the broker stops'),
    '20s',
  ),
}

/** What a client of the server may use, besides the length of a body. */
export const listenFields = {
  headerLimit: fallback(size('1KB', '1MB', 'request line and headers together; beyond it 431'), '16KB'),
  maxConnections: fallback(
    wholeNumber(1, 1_000_000, 'connections at a time; one more is closed at once. Each needs a file descriptor'),
    10_000,
  ),
  requestTimeout: fallback(duration('1s', '1h', 'how long a client may take to send a request; beyond it 408'), '60s'),
}

const osb = section({
  prefixes: fallback(
    list(
      text({
        rule: 'letters, digits, dots, dashes and underscores, not a dot or dash first, and not v2, admin, console or dashboards',
        allows: /^(?!(v2|admin|console|dashboards)$)\w[\w.-]*$/,
      }),
      {
        rule: 'a list of names',
        doc: 'what may stand before `/v2` in a path: with `[east]`, `/east/v2` is the OSB API for a platform of its own. Any other prefix is answered 404',
      },
    ),
    [],
  ),
  missingVersion: fallback(oneOf([412, 400], 'the answer to a request without `X-Broker-API-Version`'), 412),
  requireOrgAndSpace: fallback(
    flag('a provision without `organization_guid` and `space_guid`, at the top or in `context`, is refused'),
    true,
  ),
  pollAfterDelete: fallback(
    oneOf(
      ['succeeded', 'gone'],
      'the answer to a poll after a finished deletion, while it is remembered: 200 with that state, or 410',
    ),
    'succeeded',
  ),
  rememberDeleted: fallback(
    duration('0s', '3650d', 'how long a deletion is remembered; then polls are answered 410'),
    '72h',
  ),
  cascadeDelete: fallback(
    flag('deleting an instance unbinds its bindings first; else it is refused with 422 while it has any'),
    false,
  ),
  apbRoutes: fallback(
    flag(
      'serves `POST /v2/bootstrap` and `/v2/apb`, which the tools of the Automation Broker call (`apb bootstrap`, `apb push`); for operators only. What is pushed leaves the catalog when this is turned off',
    ),
    false,
  ),
})

const maxTooShort = 'must not be shorter than engine.retry.initial; raise it, or lower initial'
const callTooLong =
  'must be at most 40 % of engine.lease, so that a call ends before its lease; lower it, or raise the lease'

const timeout = (doc: string) => duration('1s', '3650d', doc)

const engine = section(
  {
    name: optional(
      text({
        rule: 'letters, digits and . _ : @ -, at most 253',
        allows: /^[\w.:@-]{1,253}$/,
        doc: "this process's own name, which it keeps when it is started again, such as a pod's: what it ran goes on at once instead of after `engine.lease`. No two at a time may have it",
      }),
    ),
    concurrency: fallback(wholeNumber(1, 10_000, 'operations that run at a time in this process'), 16),
    perService: optional(
      wholeNumber(
        1,
        10_000,
        'the most of them that are of one service, unless its definition says `concurrency`; without it, a service among several may have three times as many as it leaves free, and the last free one only where it has none',
      ),
    ),
    perPlatform: optional(
      wholeNumber(1, 10_000, 'the most of them that are of one platform; without it, a platform may have all'),
    ),
    lease: fallback(
      duration('1s', '1h', 'the right to run an operation; after a crash it waits at most this long'),
      '30s',
    ),
    callTimeout: fallback(duration('100ms', '1h', 'the longest call of a step; at most 40 % of `engine.lease`'), '12s'),
    pollInterval: fallback(
      duration('10ms', '1h', 'how often the ledger is asked for due work where no wake-up came'),
      '1s',
    ),
    observeEvery: fallback(
      duration('1s', '30d', 'how often the health of an instance is looked at, for services that have `observe`'),
      '5m',
    ),
    hold: fallback(
      list(text(), {
        doc: 'services by name or id, `*` for all: an operation of theirs that has used up its retries is held for an operator, in progress for the platform, and fails when its time is up',
      }),
      [],
    ),
    timeouts: section({
      provision: fallback(
        timeout("after this long a provision has failed; a plan's `maximum_polling_duration` may make it shorter"),
        '1h',
      ),
      update: fallback(timeout('the same for an update'), '1h'),
      deprovision: fallback(timeout('the same for a deprovision'), '24h'),
      bind: fallback(timeout('the same for a bind'), '1h'),
      unbind: fallback(timeout('the same for an unbind'), '24h'),
    }),
    retry: section(
      {
        initial: fallback(duration('1ms', '1h', 'the wait before the first retry of a step'), '1s'),
        factor: fallback(decimal(1, 10, 'what each further wait is multiplied with'), 2),
        max: fallback(duration('1ms', '24h', 'the longest wait; not shorter than `engine.retry.initial`'), '60s'),
      },
      { rules: [({ initial, max }) => isMore(initial, max) && { path: ['max'], error: maxTooShort }] },
    ),
  },
  {
    rules: [
      ({ lease, callTimeout }) =>
        isMore(callTimeout, lease && lease * 0.4) && { path: ['callTimeout'], error: callTooLong },
    ],
  },
)

const reconcile = section({
  retireAfter: fallback(
    duration(
      '1m',
      '3650d',
      'a registry that gave no answer for so long: those of its services that no instance uses leave the catalog',
    ),
    '24h',
  ),
  failureLimit: optional(
    wholeNumber(1, 1_000_000, 'the same after so many failures in a row; without it they are not counted'),
  ),
  emptyAfter: fallback(
    wholeNumber(
      1,
      1_000_000,
      'a registry that suddenly has nothing at all (a volume that is not mounted) is believed after so many syncs in a row',
    ),
    3,
  ),
  retiredPlans: fallback(
    oneOf(
      ['reject', 'accept', 'fail-async'],
      'a provision of what left the catalog: refused with 400, provisioned all the same, or accepted and failed afterwards',
    ),
    'reject',
  ),
})

const chores = section({
  timeZone: fallback(
    text({
      rule: 'the IANA name of a time zone, such as UTC or Europe/Berlin',
      allows: isTimeZone,
      doc: 'the time zone that patterns are read in, such as `Europe/Berlin`',
    }),
    'UTC',
  ),
  observe: fallback(
    cron('looks for instances whose health is due to be looked at, where a service has `observe`'),
    '*/5 * * * * *',
  ),
  expiry: fallback(
    cron(
      'looks for bindings that should be rotated or have expired, tells of them, and unbinds them where that is wanted',
    ),
    '* * * * *',
  ),
  purge: fallback(
    cron('removes what was deleted longer ago than `chores.purgeAfter`; its history stays for `history.keep`'),
    '30 * * * *',
  ),
  history: fallback(
    cron('puts new lines of the history into its chain, and removes those that are older than `history.keep`'),
    '*/15 * * * * *',
  ),
  survey: fallback(cron('counts what there is, for metrics, `/admin/stats` and `/admin/revisions`'), '*/30 * * * * *'),
  batches: fallback(cron('goes on with batches that nobody works on'), '* * * * *'),
  sync: fallback(cron('asks the registries what there is, where there are any'), '*/10 * * * *'),
  purgeAfter: fallback(duration('1h', '3650d', 'not shorter than `osb.rememberDeleted`'), '30d'),
  cleanUp: section({ instances: cleanUp('an instance', 'instances'), bindings: cleanUp('a binding', 'bindings') }),
})

function cleanUp(one: string, many: string) {
  return section({
    age: fallback(duration('0s', '3650d', `how long ago an operation on ${one} has ended at least`), '3d'),
    all: optional(cron(`removes finished operations on ${many}`)),
    succeeded: optional(cron('removes those that succeeded')),
    failed: optional(cron('removes those that failed')),
  })
}

const console = section({
  enabled: fallback(
    flag(
      'serves the web console for operators under `/console`; it uses `/admin` and the OSB API, with their credentials',
    ),
    true,
  ),
})

const metrics = section({
  serve: fallback(
    oneOf(
      ['operators', 'open', 'off'],
      'who may read `/metrics`: operators (the role `viewer` or more), everybody who reaches the broker, or nobody, and nothing is counted',
    ),
    'operators',
  ),
})

const traces = section({
  mode: fallback(
    oneOf(
      ['off', 'linked', 'continuous'],
      'spans of requests, runs and steps, through `@opentelemetry/api` and the SDK that the process has: each run a trace of its own that is linked to its request, or one trace for a whole operation',
    ),
    'off',
  ),
})

/** The sections that a broker needs wherever it runs; `purser serve` has more. */
export const brokerSections = {
  ledger,
  encryption,
  osb,
  instances: section({
    forceDeleteUnknown: fallback(flag('deleting an unknown instance answers 200 `{}` instead of 410'), false),
  }),
  bindings: section({
    forceDeleteUnknown: fallback(flag('the same for bindings'), false),
    unbindExpired: fallback(
      list(text(), {
        doc: 'services by name or id, `*` for all: a binding of theirs is unbound when it has expired, by the chore `expiry`',
      }),
      [],
    ),
  }),
  orphans: section({
    minimumAge: fallback(
      duration('1m', '3650d', 'what a backend holds and no instance has is not removed before it is so old'),
      '1d',
    ),
  }),
  engine,
  limits,
  quotas,
  reconcile,
  chores,
  history,
  console,
  metrics,
  traces,
}

/** A deletion has to be remembered for as long as polls are answered from it. */
export const keepsDeletions: Rule<{ osb?: { rememberDeleted?: number }; chores?: { purgeAfter?: number } }> = given => {
  const error =
    'must not be shorter than osb.rememberDeleted, for which a deletion is remembered; raise it, or lower that'
  return isMore(given.osb?.rememberDeleted, given.chores?.purgeAfter) && { path: ['chores', 'purgeAfter'], error }
}

const settingsShape = object({ ...brokerSections, server: section(serverFields) }, { rules: [keepsDeletions] })

/** What a broker can be told, with the names and durations of the configuration: `{ engine: { lease: '30s' } }`. */
export type Settings = Written<typeof settingsShape>

/** All settings, as code uses them: times in milliseconds, sizes in bytes. */
export type ReadSettings = Read<typeof settingsShape>

/** Fills in what is not given. Throws a SettingsError that lists every mistake. */
export function readSettings(settings: Settings = {}): ReadSettings {
  return readShape(settingsShape, settings)
}

function readShape<S extends Shape>(shape: S, settings: unknown): Read<S> {
  const reading = read(shape, fromCode(settings))
  if (reading.ok) return reading.value
  const lines = reading.mistakes.map(mistake => `  ${showPath(['settings', ...mistake.path])}: ${explain(mistake)}`)
  throw new SettingsError(
    `The settings have ${lines.length === 1 ? 'a mistake' : `${lines.length} mistakes`}:\n${lines.join('\n')}`,
  )
}

/** For a server that is told nothing. */
export const listenDefaults = () => readShape(section(listenFields), {})

export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}

/** Two settings can be compared only where both are right. */
function isMore(value: number | undefined, most: number | undefined): boolean {
  return value !== undefined && most !== undefined && value > most
}

function isTimeZone(value: string): boolean {
  try {
    // Offsets such as +02:00 are known to some versions of Node.js only, and know no summer time.
    return (
      value === 'UTC' ||
      (/^[A-Za-z]/.test(value) && new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions() !== undefined)
    )
  } catch {
    return false
  }
}

function toPublicUrl(value: unknown): string | undefined {
  if (typeof value !== 'string' || !URL.canParse(value)) return undefined
  const url = new URL(value)
  const plain = url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  return plain && /^https?:$/.test(url.protocol) ? url.href.replace(/\/+$/, '') : undefined
}
