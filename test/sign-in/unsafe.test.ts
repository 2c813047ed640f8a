import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { StartError } from '../../src/running/start-error.ts'
import { loadConfig } from '../../src/server/config.ts'
import { isKnownPassword } from '../../src/server/known-passwords.ts'
import { refuseUnsafe } from '../../src/server/refuse-unsafe.ts'

interface Case {
  readonly yaml: string
  readonly env?: Readonly<Record<string, string>>
  readonly mode?: number
  /** Of server.key beside it. */
  readonly keyMode?: number
}

/** Why a broker with this configuration would not start; undefined where it would. */
async function refusalOf({ yaml, env = {}, mode = 0o600, keyMode = 0o600 }: Case): Promise<StartError | undefined> {
  const cwd = mkdtempSync(join(tmpdir(), 'purser-unsafe-'))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  for (const [name, text, bits] of [
    ['purser.yaml', yaml, mode],
    ['server.key', 'key', keyMode],
    ['server.crt', 'crt', 0o644],
  ] as const) {
    writeFileSync(join(cwd, name), text)
    chmodSync(join(cwd, name), bits)
  }
  const config = await loadConfig({ env, flags: {}, cwd, terminal: false })
  try {
    await refuseUnsafe(config, env)
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
  'a private key that everybody can read': [{ yaml: tls, keyMode: 0o644 }, /defaultMode: 0400/, 'readableSecrets'],
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
      'tokens instead of passwords',
      {
        yaml: 'server: { host: 0.0.0.0 }\nauth: { jwt: [{ name: a, issuer: https://a, audience: [b], keysUrl: https://a/k }] }',
      },
    ],
  ])('%s', async (_, given) => {
    expect(await refusalOf(given)).toBeUndefined()
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
    ]
    const found = files.flatMap(file => {
      const text = readFileSync(file, 'utf8')
      return forms.flatMap(form => [...text.matchAll(form)].map(([, password = '']) => `${file}: ${password}`))
    })
    expect(found.length).toBeGreaterThan(1)
    expect(found.filter(line => !isKnownPassword(line.slice(line.indexOf(': ') + 2)))).toEqual([])
  })
})
