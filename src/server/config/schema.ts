import { z } from 'zod'
import { checkPasswordHash } from '../../authenticator/password.ts'
import { decimal, duration, flag, oneOf, path, setting, size, text, wholeNumber } from './settings.ts'
import { allowedStores, isStoreUrl } from './store-url.ts'

/** Every setting there is, what it may be, and what it is when nobody says. docs/reference/configuration.md explains them. */
export const configSchema = z.strictObject({
  broker: path().exactOptional(),
  catalog: path().exactOptional(),
  store: text(allowedStores, isStoreUrl).prefault('sqlite:purser.db'),
  server: z
    .strictObject({
      host: text('a host name or an IP address', value => /^[\w.:%-]+$/.test(value)).prefault('127.0.0.1'),
      port: wholeNumber(0, 65_535).prefault(8080),
      publicUrl: setting('an http or https URL without user, query and fragment', toPublicUrl).exactOptional(),
      tls: z.strictObject({ cert: path(), key: path(), ca: path().exactOptional() }).exactOptional(),
      bodyLimit: size('1KB', '64MB').prefault('1MB'),
      headerLimit: size('1KB', '1MB').prefault('16KB'),
      requestTimeout: duration('1s', '1h').prefault('60s'),
      syncTimeout: duration('1s', '1h').prefault('55s'),
      shutdownGrace: duration('0s', '1h').prefault('25s'),
    })
    .prefault({}),
  auth: z
    .strictObject({
      basic: z
        .array(
          z
            .strictObject({
              username: text('a text without a colon, in quotes where it is a number', value => /^[^:]+$/.test(value)),
              password: text('a text, in quotes where it is a number').exactOptional(),
              passwordHash: passwordHash().exactOptional(),
              previousPasswordHash: passwordHash().exactOptional(),
              platform: text('letters, digits, dots, dashes and underscores', value =>
                /^[\w.-]+$/.test(value),
              ).prefault('default'),
              roles: z
                .array(oneOf('platform', 'viewer', 'operator'))
                .min(1, { error: 'allowed: at least one of platform, viewer, operator' })
                .prefault(['platform']),
            })
            .refine(user => 'password' in user !== 'passwordHash' in user, {
              error: 'needs exactly one of password and passwordHash; make a hash with "purser hash-password"',
              when: isMap,
            }),
        )
        .prefault([]),
    })
    .prefault({}),
  osb: z
    .strictObject({
      missingVersion: oneOf(412, 400).prefault(412),
      requireOrgAndSpace: flag().prefault(true),
      pollAfterDelete: oneOf('succeeded', 'gone').prefault('succeeded'),
      rememberDeleted: duration('0s', '3650d').prefault('72h'),
      cascadeDelete: flag().prefault(false),
    })
    .prefault({}),
  instances: z.strictObject({ forceDeleteUnknown: flag().prefault(false) }).prefault({}),
  bindings: z.strictObject({ forceDeleteUnknown: flag().prefault(false) }).prefault({}),
  engine: z
    .strictObject({
      concurrency: wholeNumber(1, 10_000).prefault(16),
      lease: duration('1s', '1h').prefault('30s'),
      callTimeout: duration('100ms', '1h').prefault('12s'),
      pollInterval: duration('10ms', '1h').prefault('1s'),
      observeEvery: duration('1s', '30d').prefault('5m'),
      timeouts: z
        .strictObject({
          provision: duration('1s', '3650d').prefault('1h'),
          update: duration('1s', '3650d').prefault('1h'),
          deprovision: duration('1s', '3650d').prefault('24h'),
          bind: duration('1s', '3650d').prefault('1h'),
          unbind: duration('1s', '3650d').prefault('24h'),
        })
        .prefault({}),
      retry: z
        .strictObject({
          initial: duration('1ms', '1h').prefault('1s'),
          factor: decimal(1, 10).prefault(2),
          max: duration('1ms', '24h').prefault('60s'),
        })
        .refine(({ initial, max }) => !(initial > max), {
          path: ['max'],
          error: 'must not be shorter than engine.retry.initial; raise it, or lower initial',
          when: isMap,
        })
        .prefault({}),
    })
    .refine(({ lease, callTimeout }) => !(callTimeout > lease * 0.4), {
      path: ['callTimeout'],
      error: 'must be at most 40 % of engine.lease, so that a call ends before its lease; lower it, or raise the lease',
      when: isMap,
    })
    .prefault({}),
  // Always there: the loader fills in the format, which depends on where logs go.
  log: z.strictObject({
    format: oneOf('json', 'people'),
    level: oneOf('info', 'warn', 'error').prefault('info'),
  }),
})

/** Rules that compare settings also run where another setting of the section is wrong: every mistake is told at once. */
function isMap({ value }: { readonly value: unknown }): boolean {
  return typeof value === 'object' && value !== null
}

function passwordHash() {
  return text(
    'a hash made with "purser hash-password" (scrypt$N$r$p$salt$hash)',
    value => checkPasswordHash(value) === undefined,
  )
}

function toPublicUrl(value: unknown): string | undefined {
  if (typeof value !== 'string' || !URL.canParse(value)) return undefined
  const url = new URL(value)
  const plain = url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  return plain && /^https?:$/.test(url.protocol) ? url.href.replace(/\/+$/, '') : undefined
}
