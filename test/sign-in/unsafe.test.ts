import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { StartError } from '../../src/running/start-error.ts'
import { type Config, loadConfig } from '../../src/server/config.ts'
import { isKnownPassword } from '../../src/server/known-passwords.ts'
import { knownPasswordRule, refuseUnsafe } from '../../src/server/refuse-unsafe.ts'
import { openSignIn } from '../../src/server/sign-in.ts'
import { cheapHash } from '../http/cheap-hash.ts'

interface Case {
  readonly yaml: string
  readonly env?: Readonly<Record<string, string>>
  readonly mode?: number
  /** Of the files with secrets beside it. */
  readonly besideMode?: number
}

function load({ yaml, env = {}, mode = 0o600, besideMode = 0o600 }: Case): Promise<Config> {
  const cwd = mkdtempSync(join(tmpdir(), 'purser-unsafe-'))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  for (const [name, text, bits] of [
    ['purser.yaml', yaml, mode],
    ['server.key', 'key', besideMode],
    ['server.crt', 'crt', 0o644],
    ['credentials.yaml', 'token: kR9-long', besideMode],
  ] as const) {
    writeFileSync(join(cwd, name), text)
    chmodSync(join(cwd, name), bits)
  }
  return loadConfig({ env, flags: {}, cwd, terminal: false })
}

/** Why a broker with this configuration would not start; undefined where it would. */
async function refusalOf(given: Case): Promise<StartError | undefined> {
  const config = await load(given)
  try {
    await refuseUnsafe(config, given.env ?? {})
    return undefined
  } catch (error) {
    expect(error).toBeInstanceOf(StartError)
    return error as StartError
  }
}

const production = { NODE_ENV: 'production' }
const good = 'auth: { basic: [{ username: ops, password: "${PW}" }] }'
const pw = { PW: 'kR9-long-and-random' }
const tls = 'server: { tls: { cert: server.crt, key: server.key } }'

/** What is refused, the words of the remedy, and the setting that allows it. */
const cases: Readonly<Record<string, readonly [Case, RegExp, string]>> = {
  'no credentials on an address that others reach': [{ yaml: 'server: { host: 0.0.0.0 }' }, /PURSER_USERNAME/, 'open'],
  'a password from the documents on an address that others reach': [
    { yaml: `server: { host: 0.0.0.0 }\n${good}`, env: { PW: 'secret' } },
    /Choose another one/,
    'knownPasswords',
  ],
  'a password from the documents in production': [
    { yaml: good, env: { ...production, PW: 'Password' } },
    /Choose another one/,
    'knownPasswords',
  ],
  'the password behind the hash in the documents': [
    { yaml: good, env: { ...production, PW: 'correct horse battery staple' } },
    /Choose another one/,
    'knownPasswords',
  ],
  'the memory store in production': [{ yaml: 'store: "memory:"', env: production }, /sqlite:/, 'memoryStore'],
  'a configuration file with a password that everybody can read': [
    { yaml: 'auth: { basic: [{ username: ops, password: kR9-long }] }', mode: 0o644 },
    /chmod 600/,
    'readableSecrets',
  ],
  'a configuration file with the password of the store that everybody can read': [
    { yaml: 'store: postgres://purser:kR9-long@db/purser\nencryption: { required: false }', mode: 0o604 },
    /chmod 600/,
    'readableSecrets',
  ],
  'a configuration file with the password of a registry that everybody can read': [
    { yaml: 'registries: [{ name: hub, type: dockerhub, user: me, pass: kR9-long, org: x }]', mode: 0o644 },
    /chmod 600/,
    'readableSecrets',
  ],
  'a configuration file with the token of a registry that everybody can read': [
    { yaml: 'registries: [{ name: hub, type: dockerhub, Token: kR9-long, org: x }]', mode: 0o644 },
    /registries\[0\]\.Token.*chmod 600/,
    'readableSecrets',
  ],
  'a password as the default of a placeholder in a file that everybody can read': [
    { yaml: 'auth: { basic: [{ username: ops, password: "${NOPE:${NOR:kR9-long}}" }] }', mode: 0o644 },
    /auth\.basic\[0\]\.password.*chmod 600/,
    'readableSecrets',
  ],
  'a password that a placeholder takes from the same file, which everybody can read': [
    {
      yaml: 'spring: { application: { name: x } }\nmine: { pw: kR9-long }\nauth: { basic: [{ username: ops, password: "${mine.pw}" }] }',
      mode: 0o644,
    },
    /auth\.basic\[0\]\.password.*chmod 600/,
    'readableSecrets',
  ],
  'a password of the store beside a placeholder in a file that everybody can read': [
    { yaml: 'store: "postgres://a:kR9-long@${DB:db}/c"\nencryption: { required: false }', mode: 0o644 },
    /: store\..*chmod 600/,
    'readableSecrets',
  ],
  'a private key that everybody can read': [{ yaml: tls, besideMode: 0o644 }, /defaultMode: 0400/, 'readableSecrets'],
  'the credentials of a registry in a file that everybody can read': [
    {
      yaml: 'registries: [{ name: hub, type: dockerhub, auth_type: file, auth_name: credentials.yaml, org: x }]',
      besideMode: 0o666,
    },
    /registry hub.*chmod 600/,
    'readableSecrets',
  ],
  'the secrets of a bundle in a file that everybody can read': [
    { yaml: 'bundles: { secrets: [{ bundle: x, file: credentials.yaml }] }', besideMode: 0o666 },
    /secrets of a bundle.*chmod 600/,
    'readableSecrets',
  ],
}

describe('a broker refuses to start with', () => {
  it.each(Object.keys(cases))('%s, says what to do, and starts where it is meant', async name => {
    const [given, remedy, setting] = cases[name] ?? [{ yaml: '' }, /./, '']
    const refusal = await refusalOf(given)
    expect(refusal?.message).toMatch(/./)
    const told = JSON.stringify({ ...refusal, message: refusal?.message })
    expect(told).toMatch(remedy)
    expect(told).toContain(`unsafe.${setting}`)
    expect(told).not.toContain('kR9-long')
    expect(await refusalOf({ ...given, yaml: `${given.yaml}\nunsafe: { ${setting}: true }` })).toBeUndefined()
  })
})

describe('a broker starts with', () => {
  it.each<[string, Case]>([
    ['no credentials on this machine', { yaml: '' }],
    ['the memory store elsewhere than in production', { yaml: 'store: "memory:"' }],
    ['a good password', { yaml: `server: { host: 0.0.0.0 }\n${good}`, env: { ...production, ...pw } }],
    ['a secret from the environment in a file that everybody can read', { yaml: good, env: pw, mode: 0o644 }],
    [
      'a file with a secret for its owner and group',
      { yaml: 'store: postgres://a:b@db/c\nencryption: { required: false }', mode: 0o640 },
    ],
    ['a private key for its owner', { yaml: tls }],
    [
      'placeholders in the place of secrets in a file that everybody can read',
      {
        yaml: 'store: "postgres://${A:a}:${PW}@${DB:db}/c"\nencryption: { required: false }\nauth: { basic: [{ username: ops, password: "${PW:kR9-long}" }] }',
        env: pw,
        mode: 0o644,
      },
    ],
    [
      'tokens instead of passwords',
      {
        yaml: 'server: { host: 0.0.0.0 }\nauth: { jwt: [{ name: a, issuer: https://a, audience: [b], keysUrl: https://a/k }] }',
      },
    ],
  ])('%s', async (_, given) => {
    expect(await refusalOf(given)).toBeUndefined()
  })
})

describe('a hash of a password that everybody knows', () => {
  /** Whether a login with the password is taken, by a broker that has only this hash of it. */
  async function logIn(yaml: string, password: string, env: Case['env'] = {}) {
    const auth = `auth: { basic: [{ username: ops, passwordHash: "${cheapHash('new')}", previousPasswordHash: "${cheapHash('Admin')}" }] }`
    const config = await load({ yaml: `${yaml}\n${auth}`, env })
    await refuseUnsafe(config, env)
    const { authenticator } = await openSignIn(config, {}, knownPasswordRule(config, env))
    const headers = { authorization: `Basic ${btoa(`ops:${password}`)}` }
    return authenticator.authenticate({ method: 'GET', path: '/', headers })
  }
  const outside = 'server: { host: 0.0.0.0 }'

  it('lets nobody in on an address that others reach, or in production, and says why', async () => {
    const refused = { refused: expect.stringContaining('unsafe.knownPasswords'), principal: 'ops' }
    expect(await logIn(outside, 'Admin')).toEqual(refused)
    expect(await logIn('', 'Admin', production)).toEqual(refused)
    expect(await logIn(outside, 'new')).toMatchObject({ name: 'ops' })
  })

  it('lets its user in elsewhere, and where it is meant', async () => {
    expect(await logIn('', 'Admin')).toMatchObject({ name: 'ops' })
    expect(await logIn(`${outside}\nunsafe: { knownPasswords: true }`, 'Admin')).toMatchObject({ name: 'ops' })
  })
})

describe('passwords in the documents', () => {
  it('are all known', () => {
    const folders = ['docs/guides', 'docs/reference', '.', 'deploy/helm/purser', 'templates/broker']
    const files = folders.flatMap(folder =>
      readdirSync(folder)
        .filter(name => /\.(md|ya?ml)$/.test(name))
        .map(name => join(folder, name)),
    )
    const forms = [
      /(?:-u|--user) [a-z]+:([\w-]+)/g,
      /(?:PURSER_PASSWORD=|password: )['"]?((?!string$)[\w-]{4,})['"]? *(?:}|$)/gm,
      /(scrypt\$\d+\$\d+\$\d+\$[\w-]+\$[\w-]+)/g,
      /printf '([^']+)' \| purser hash-password/g,
    ]
    const found = files.flatMap(file => {
      const text = readFileSync(file, 'utf8')
      return forms.flatMap(form => [...text.matchAll(form)].map(([, password = '']) => `${file}: ${password}`))
    })
    expect(found.length).toBeGreaterThan(1)
    expect(found.filter(line => !isKnownPassword(line.slice(line.indexOf(': ') + 2)))).toEqual([])
  })
})
