import { list, section, setting } from './section.ts'
import { decimal, duration, flag, oneOf, path, size, text, wholeNumber } from './settings.ts'

/** Only looked at here: `config/registries.ts` reads them, since that needs the code of registries. */
export const registries = () => list(setting('a registry', (value): unknown => value)).default([])

export const reconcile = () =>
  section({
    retireAfter: duration('1m', '3650d').default('24h'),
    failureLimit: wholeNumber(1, 1_000_000).optional(),
    retiredPlans: oneOf('reject', 'accept', 'fail-async').default('reject'),
  })

export const bundles = () =>
  section({
    runtime: oneOf('auto', 'process', 'container').default('auto'),
    folder: path().default('.purser/bundles'),
    socket: path().optional(),
    user: setting('the number of a user, or user:group, such as 65534 or 1001:1001', toUser).optional(),
    network: oneOf('none', 'allowed').default('none'),
    pull: oneOf('if-missing', 'always', 'never').default('if-missing'),
    timeout: duration('1s', '30d').default('1h'),
    memory: size('16MB', '1000GB').optional(),
    cpu: decimal(0.01, 1024).optional(),
    output: size('1KB', '1GB').default('16MB'),
    processes: wholeNumber(1, 1_000_000).default(512),
    keepOnError: flag().default(false),
    secretsFolder: path().default('/etc/purser/secrets'),
    secrets: list(
      section(
        {
          bundle: text('the name of a service in the catalog, such as dh-postgresql-apb'),
          file: path().optional(),
          secret: text('the name of a folder in bundles.secretsFolder').optional(),
        },
        {
          holds: entry => 'file' in entry !== 'secret' in entry,
          error: 'needs exactly one of file and secret',
        },
      ),
    ).default([]),
  })

function toUser(value: unknown): { readonly uid: number; readonly gid: number } | undefined {
  const [, uid, gid = uid] = /^(\d{1,9})(?::(\d{1,9}))?$/.exec(String(value)) ?? []
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}
