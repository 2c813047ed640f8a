import { checkPasswordHash } from '../../authenticator/password.ts'
import { bundles, reconcile, registries } from './bundle-settings.ts'
import { list, section, setting } from './section.ts'
import { cronPattern, decimal, duration, flag, oneOf, path, size, text, wholeNumber } from './settings.ts'
import { allowedStores, isStoreUrl } from './store-url.ts'

/** Every setting there is, what it may be, and what it is when nobody says. docs/reference/configuration.md explains them. */
export const configSchema = section(
  {
    broker: path().optional(),
    catalog: path().optional(),
    store: text(allowedStores, isStoreUrl).default('sqlite:purser.db'),
    ledger: section({
      schema: text('small letters, digits and _, at most 40, not a digit first', value =>
        /^[a-z_][a-z0-9_]{0,39}$/.test(value),
      ).default('purser'),
      poolSize: wholeNumber(1, 1000).default(10),
      connectTimeout: duration('100ms', '10m').default('5s'),
      statementTimeout: duration('100ms', '1h').default('10s'),
    }),
    server: section({
      host: text('a host name or an IP address', value => /^[\w.:%-]+$/.test(value)).default('127.0.0.1'),
      port: wholeNumber(0, 65_535).default(8080),
      publicUrl: setting('an http or https URL without user, query and fragment', toPublicUrl).optional(),
      tls: section({ cert: path(), key: path(), ca: path().optional() }).optional(),
      bodyLimit: size('1KB', '64MB').default('1MB'),
      headerLimit: size('1KB', '1MB').default('16KB'),
      requestTimeout: duration('1s', '1h').default('60s'),
      syncTimeout: duration('1s', '1h').default('55s'),
      shutdownGrace: duration('0s', '1h').default('25s'),
    }),
    auth: section({ basic: list(basicUser()).default([]) }),
    osb: section({
      missingVersion: oneOf(412, 400).default(412),
      requireOrgAndSpace: flag().default(true),
      pollAfterDelete: oneOf('succeeded', 'gone').default('succeeded'),
      rememberDeleted: duration('0s', '3650d').default('72h'),
      cascadeDelete: flag().default(false),
    }),
    instances: section({ forceDeleteUnknown: flag().default(false) }),
    bindings: section({ forceDeleteUnknown: flag().default(false) }),
    engine: section(
      {
        concurrency: wholeNumber(1, 10_000).default(16),
        lease: duration('1s', '1h').default('30s'),
        callTimeout: duration('100ms', '1h').default('12s'),
        pollInterval: duration('10ms', '1h').default('1s'),
        observeEvery: duration('1s', '30d').default('5m'),
        timeouts: section({
          provision: duration('1s', '3650d').default('1h'),
          update: duration('1s', '3650d').default('1h'),
          deprovision: duration('1s', '3650d').default('24h'),
          bind: duration('1s', '3650d').default('1h'),
          unbind: duration('1s', '3650d').default('24h'),
        }),
        retry: section(
          {
            initial: duration('1ms', '1h').default('1s'),
            factor: decimal(1, 10).default(2),
            max: duration('1ms', '24h').default('60s'),
          },
          {
            holds: ({ initial, max }) => isAtMost(initial, max),
            path: ['max'],
            error: 'must not be shorter than engine.retry.initial; raise it, or lower initial',
          },
        ),
      },
      {
        holds: ({ lease, callTimeout }) => isAtMost(callTimeout, lease && lease * 0.4),
        path: ['callTimeout'],
        error:
          'must be at most 40 % of engine.lease, so that a call ends before its lease; lower it, or raise the lease',
      },
    ),
    registries: registries(),
    reconcile: reconcile(),
    bundles: bundles(),
    chores: section({
      timeZone: text('the IANA name of a time zone, such as UTC or Europe/Berlin', isTimeZone).default('UTC'),
      observe: cronPattern().default('*/5 * * * * *'),
      purge: cronPattern().default('30 * * * *'),
      sync: cronPattern().default('*/10 * * * *'),
      purgeAfter: duration('1h', '3650d').default('30d'),
      cleanUp: section({ instances: cleanUp(), bindings: cleanUp() }),
    }),
    log: section({
      // Always there: the loader fills it in, since it depends on where logs go.
      format: oneOf('json', 'people'),
      level: oneOf('info', 'warn', 'error').default('info'),
    }),
  },
  {
    holds: ({ osb, chores }) => isAtMost(osb?.rememberDeleted, chores?.purgeAfter),
    path: ['chores', 'purgeAfter'],
    error: 'must not be shorter than osb.rememberDeleted, for which a deletion is remembered; raise it, or lower that',
  },
)

function cleanUp() {
  return section({
    age: duration('0s', '3650d').default('3d'),
    all: cronPattern().optional(),
    succeeded: cronPattern().optional(),
    failed: cronPattern().optional(),
  })
}

function basicUser() {
  return section(
    {
      username: text('a text without a colon, in quotes where it is a number', value => /^[^:]+$/.test(value)),
      password: text('a text, in quotes where it is a number').optional(),
      passwordHash: passwordHash().optional(),
      previousPasswordHash: passwordHash().optional(),
      platform: text('letters, digits, dots, dashes and underscores', value => /^[\w.-]+$/.test(value)).default(
        'default',
      ),
      roles: list(oneOf('platform', 'viewer', 'operator'), {
        holds: roles => roles.length > 0,
        error: 'allowed: at least one of platform, viewer, operator',
      }).default(['platform']),
    },
    {
      holds: user => 'password' in user !== 'passwordHash' in user,
      error: 'needs exactly one of password and passwordHash; make a hash with "purser hash-password"',
    },
  )
}

/** Two settings can be compared only where both are right. */
function isAtMost(value: number | undefined, most: number | undefined): boolean {
  return value === undefined || most === undefined || value <= most
}

function passwordHash() {
  return text(
    'a hash made with "purser hash-password" (scrypt$N$r$p$salt$hash)',
    value => checkPasswordHash(value) === undefined,
  )
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
