import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hashPassword } from '../../src/authenticator/password.ts'
import { loadCatalogFile } from '../../src/catalog/load-yaml.ts'
import { type LoadConfigOptions, loadConfig, toSettings } from '../../src/server/config.ts'
import { brokerSections } from '../../src/settings/settings.ts'
import { mistakesIn } from './mistakes.ts'
import { revealAll } from './reveal-all.ts'

let cwd = ''
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'purser-config-'))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

describe('loadConfig', () => {
  it.each([
    ['postgres://postgres@127.0.0.1/a', []],
    ['postgres://127.0.0.1:5432/a', []],
    ['postgres://postgres:hunter2@127.0.0.1/a', ['store']],
    ['postgres://postgres:hunter2@127.0.0.1:5432,10.0.0.2/a', ['store']],
  ])('knows whether the secret of a store stands in the file: %s', async (store, plainSecrets) => {
    write('purser.yaml', `store: ${store}\n`)
    expect(await load()).toMatchObject({ plainSecrets })
  })

  it('shows no secret of it, whoever prints it', async () => {
    const canary = 'canary-1f6b'
    const key = Buffer.from(canary.padEnd(32)).toString('base64')
    const registries = [{ name: 'r', type: 'quay', org: 'o', user: canary, pass: canary, token: canary }]
    const env = { PURSER_STORE: `postgres://u:${canary}@db/x`, PURSER_ENCRYPTION_KEY: key }
    writeFileSync(
      join(cwd, 'purser.yaml'),
      JSON.stringify({
        registries,
        server: { publicUrl: 'https://broker.example' },
        auth: {
          basic: [{ username: 'u', password: canary }],
          oidc: { name: 'o', issuer: 'https://id.example', clientId: 'c', clientSecret: canary },
        },
      }),
    )
    const config = await hidden({ env })
    const shown = [
      inspect(config, { depth: 12, showHidden: true }),
      JSON.stringify(config),
      inspect(toSettings(config), { depth: 12 }),
    ]
    for (const text of shown) {
      expect(text).not.toContain(canary)
      expect(text).not.toContain(key)
      expect(text).toContain('[redacted]')
    }
    expect(config.store.reveal()).toBe(env.PURSER_STORE)
  })

  it('without a file gives the defaults, frozen', async () => {
    const config = await load()
    expect(config).toEqual({
      server: {
        host: '127.0.0.1',
        port: 8080,
        hosts: [],
        bodyLimit: 1_048_576,
        headerLimit: 16_384,
        maxConnections: 10_000,
        requestTimeout: 60_000,
        syncTimeout: 55_000,
        shutdownGrace: 20_000,
        shutdownDelay: 5_000,
      },
      store: `sqlite:${join(cwd, 'purser.db')}`,
      auth: { basic: [], jwt: [], certificates: [], reloadEvery: 5_000 },
      unsafe: { open: false, knownPasswords: false, memoryStore: false, readableSecrets: false },
      plainSecrets: [],
      osb: {
        prefixes: [],
        missingVersion: 412,
        requireOrgAndSpace: true,
        pollAfterDelete: 'succeeded',
        rememberDeleted: 259_200_000,
        cascadeDelete: false,
        apbRoutes: false,
      },
      instances: { forceDeleteUnknown: false },
      bindings: { forceDeleteUnknown: false, unbindExpired: [] },
      orphans: { minimumAge: 86_400_000 },
      engine: {
        concurrency: 16,
        lease: 30_000,
        callTimeout: 12_000,
        pollInterval: 1000,
        observeEvery: 300_000,
        hold: [],
        timeouts: {
          provision: 3_600_000,
          update: 3_600_000,
          deprovision: 86_400_000,
          bind: 3_600_000,
          unbind: 86_400_000,
        },
        retry: { initial: 1000, factor: 2, max: 60_000 },
      },
      limits: { burst: 100 },
      quotas: { platforms: [] },
      history: { keep: 34_560_000_000, mask: [] },
      encryption: { keys: [], required: true },
      ledger: { schema: 'purser', poolSize: 10, connectTimeout: 5000, statementTimeout: 10_000 },
      registries: [],
      reconcile: { retireAfter: 86_400_000, emptyAfter: 3, retiredPlans: 'reject' },
      bundles: {
        runtime: 'auto',
        folder: join(cwd, '.purser/bundles'),
        exposeFiles: false,
        manifests: { kinds: [], namespaces: ['context'], watch: true },
        secretsFrom: 'folder',
        kubernetes: {
          toolsImage: 'docker.io/library/busybox:1.37-musl',
          sandboxRole: 'edit',
          roles: [],
          autoEscalate: false,
          copies: false,
          pullSecrets: [],
          startTimeout: 300_000,
          disk: 1_073_741_824,
          nodeSelector: {},
        },
        network: 'none',
        pull: 'if-missing',
        keepPinned: false,
        timeout: 3_600_000,
        output: 16_777_216,
        processes: 512,
        keepOnError: false,
        secretsFolder: '/etc/purser/secrets',
        secrets: [],
      },
      warnings: [],
      chores: {
        timeZone: 'UTC',
        observe: '*/5 * * * * *',
        expiry: '* * * * *',
        history: '*/15 * * * * *',
        purge: '30 * * * *',
        survey: '*/30 * * * * *',
        batches: '* * * * *',
        sync: '*/10 * * * *',
        purgeAfter: 2_592_000_000,
        cleanUp: { instances: { age: 259_200_000 }, bindings: { age: 259_200_000 } },
      },
      console: { enabled: true },
      metrics: { serve: 'operators' },
      traces: { mode: 'off' },
      log: { format: 'json', level: 'info', areas: [] },
    })
    expect(Object.isFrozen((await hidden()).engine.timeouts)).toBe(true)
  })

  it.each(['purser.yaml', 'purser.yml'])('finds %s in the folder, and an empty one is fine', async name => {
    write(name, '# nothing yet\nserver:\n')
    expect(await load()).toMatchObject({ file: join(cwd, name), server: { port: 8080 } })
  })

  it('reads keys in camelCase, kebab-case and snake_case, nested and dotted', async () => {
    write(
      'purser.yaml',
      `server: { body-limit: 2MB, shutdown_grace: 5s }
server.public-url: https://broker.example/base/
engine.retry.max: 10s
engine: { retry: { initial: 250 }, timeouts.bind: 10m }
osb: { missing_version: 400, prefixes: [east, west] }
log: { level: warn }
`,
    )
    expect(await load()).toMatchObject({
      server: { bodyLimit: 2_097_152, shutdownGrace: 5000, publicUrl: 'https://broker.example/base', port: 8080 },
      engine: { retry: { initial: 250, max: 10_000 }, timeouts: { bind: 600_000, unbind: 86_400_000 } },
      osb: { missingVersion: 400, prefixes: ['east', 'west'] },
      log: { level: 'warn' },
    })
  })

  it('lets flags win over the environment, it over the file, and it over defaults', async () => {
    write('purser.yaml', 'server: { port: 1, host: file, headerLimit: 8KB }\nstore: sqlite:file.db\n')
    const env = {
      PORT: '2',
      PURSER_SERVER_PORT: '3',
      PURSER_SERVER_HOST: 'env',
      PURSER_ENGINE_LEASE: '40s',
      PURSER_OSB_CASCADE_DELETE: 'true',
      PURSER_STORE: 'memory:',
      PURSER_LOG_FORMAT: 'people',
    }
    expect(await load()).toMatchObject({ server: { port: 1, host: 'file' } })
    expect(await load({ env: { PORT: '2' } })).toMatchObject({ server: { port: 2 } })
    expect(await load({ env })).toMatchObject({
      server: { port: 3, host: 'env', headerLimit: 8192 },
      engine: { lease: 40_000 },
      osb: { cascadeDelete: true },
      store: 'memory:',
      log: { format: 'people' },
    })
    const set = ['engine.lease=50s', 'chores.clean-up.bindings.age=2d']
    expect(await load({ env, flags: { port: 4, host: 'flag', store: 'sqlite:/x.db', set } })).toMatchObject({
      server: { port: 4, host: 'flag' },
      engine: { lease: 50_000 },
      chores: { cleanUp: { bindings: { age: 172_800_000 } } },
      store: 'sqlite:/x.db',
    })
  })

  it('takes paths in a file from its folder, and others from the current one', async () => {
    write('etc/purser.yaml', 'broker: ./broker.mjs\ncatalog: catalog.yaml\nstore: sqlite:data/x.db\n')
    for (const name of ['etc/broker.mjs', 'etc/catalog.yaml', 'other.mjs']) write(name, '')
    const config = await load({ file: 'etc/purser.yaml' })
    expect(config).toMatchObject({
      file: join(cwd, 'etc/purser.yaml'),
      broker: join(cwd, 'etc/broker.mjs'),
      catalog: join(cwd, 'etc/catalog.yaml'),
      store: `sqlite:${join(cwd, 'etc/data/x.db')}`,
    })
    const env = { PURSER_CONFIG: 'etc/purser.yaml', PURSER_STORE: 'sqlite:x.db' }
    expect(await load({ env, flags: { broker: 'other.mjs' } })).toMatchObject({
      broker: join(cwd, 'other.mjs'),
      store: `sqlite:${join(cwd, 'x.db')}`,
    })
  })

  it('takes users with passwords and hashes, and one from the environment', async () => {
    const hash = await hashPassword('x')
    write(
      'purser.yaml',
      `auth:
  basic:
    - { username: cf, password-hash: ${hash}, previousPasswordHash: ${hash}, platform: cf-1 }
    - { username: ops, password: "\${OPS_PASSWORD}", roles: [viewer, operator] }
`,
    )
    const env = { OPS_PASSWORD: `pa$$\${word}`, PURSER_USERNAME: 'admin', PURSER_PASSWORD: 'p' }
    const all = ['platform', 'admin']
    const cf = { username: 'cf', passwordHash: hash, previousPasswordHash: hash, platform: 'cf-1', roles: ['platform'] }
    expect((await load({ env })).auth.basic).toEqual([
      cf,
      { username: 'ops', password: `pa$$\${word}`, platform: 'default', roles: ['viewer', 'operator'] },
      { username: 'admin', password: 'p', platform: 'default', roles: all },
    ])
    expect((await load({ env: { ...env, PURSER_USERNAME: 'ops' } })).auth.basic).toEqual([
      cf,
      { username: 'ops', password: 'p', platform: 'default', roles: all },
    ])
  })

  it('replaces placeholders, defaults within defaults included', async () => {
    write(
      'purser.yaml',
      `server: { port: "\${WEB_PORT:9000}", host: "\${A:\${B:fallback}}" }
engine: { lease: "\${SECONDS}s" }
osb.cascadeDelete: \${CASCADE:true}
`,
    )
    expect(await load({ env: { SECONDS: '40' } })).toMatchObject({
      server: { port: 9000, host: 'fallback' },
      engine: { lease: 40_000 },
      osb: { cascadeDelete: true },
    })
    expect(await load({ env: { SECONDS: '40', B: 'b', WEB_PORT: '1' } })).toMatchObject({
      server: { port: 1, host: 'b' },
    })
  })

  it('takes memory without its colon, which YAML would want in quotes', async () => {
    write('purser.yaml', 'store: memory\n')
    expect(await load()).toMatchObject({ store: 'memory:' })
  })

  it('understands anchors and merge keys', async () => {
    write('purser.yaml', 'instances: &x { forceDeleteUnknown: true }\nbindings: { <<: *x }\n')
    expect(await load()).toMatchObject({ bindings: { forceDeleteUnknown: true } })
  })

  it('warns of a variable that is close to one that is read', async () => {
    const env = {
      PURSER_ENGINE_CONCURENCY: '5',
      PURSER_PASWORD: 'x',
      // Of other programs, and of a Service called purser.
      PURSER_IMAGE: 'x',
      PURSER_SERVICE_HOST: '10.0.0.1',
      PURSER_SERVICE_PORT: '80',
      PURSER_SERVICE_PORT_HTTP: '80',
      PURSER_PORT_80_TCP_PORT: '80',
      PURSER_SERVER_SERVICE_PORT: '80',
      PURSER_URL: 'http://127.0.0.1',
    }
    expect((await load({ env })).warnings).toEqual([
      'PURSER_ENGINE_CONCURENCY: is no setting; did you mean PURSER_ENGINE_CONCURRENCY?',
      'PURSER_PASWORD: is no setting; did you mean PURSER_PASSWORD?',
    ])
  })

  it('ignores the PURSER_SERVER_PORT of a Kubernetes service link only', async () => {
    const link = { PURSER_SERVER_PORT: 'tcp://10.0.0.1:8080', PURSER_SERVER_SERVICE_HOST: '10.0.0.1' }
    expect(await load({ env: link })).toMatchObject({ server: { port: 8080 } })
    expect(await mistakes({ env: { PURSER_SERVER_PORT: 'tcp://10.0.0.1:8080' } })).toHaveLength(1)
  })

  it('logs for people on a terminal', async () => {
    expect((await load({ terminal: true })).log.format).toBe('people')
  })
})

describe('a Spring application.yaml', () => {
  it.each([
    ['nested', 'com:\n  equalities:\n    osbapi:\n      service-instances:\n        force-delete-unknown: true\n'],
    ['dotted', 'com.equalities.osbapi.service-instances.force-delete-unknown: true\n'],
    ['dotted in the middle', 'com:\n  equalities.osbapi:\n    service-instances.force-delete-unknown: true\n'],
    ['camelCase', 'com.equalities: { osbapi: { serviceInstances: { forceDeleteUnknown: true } } }\n'],
  ])('sets forceDeleteUnknown, %s', async (_, yaml) => {
    write('application.yaml', yaml)
    expect(await load({ file: 'application.yaml' })).toMatchObject({
      instances: { forceDeleteUnknown: true },
      bindings: { forceDeleteUnknown: false },
    })
  })

  it('keeps instances and bindings apart, yields to our own names, and works in purser.yaml', async () => {
    write(
      'purser.yaml',
      `com.equalities.osbapi: { service-bindings.force-delete-unknown: true, service-instances.force-delete-unknown: true }
instances: { forceDeleteUnknown: false }
`,
    )
    expect(await load()).toMatchObject({
      instances: { forceDeleteUnknown: false },
      bindings: { forceDeleteUnknown: true },
    })
  })

  it('holds the catalog, and what concerns Spring alone is passed over', async () => {
    write(
      'application.yaml',
      `spring:
  application.name: \${NOT_SET}
  cloud.openservicebroker:
    catalog: { services: [] }
management: { endpoints: { enabled: '\${NOT_SET_EITHER}' } }
server: { port: "\${PORT:9090}", servlet: { context-path: / } }
`,
    )
    const config = await load({ file: 'application.yaml' })
    expect(config).toMatchObject({ catalog: join(cwd, 'application.yaml'), server: { port: 9090 } })
    expect(config).not.toHaveProperty('management')
  })

  const documents = `server.port: 1111
instances: { forceDeleteUnknown: true }
---
spring.config.activate.on-profile: cloud
server: { port: 2222, host: 127.0.0.2 }
---
spring.profiles: "!cloud"
server.port: 3333
`

  it('has several documents, of which those of the active profiles count', async () => {
    write('application.yaml', documents)
    expect(await load({ file: 'application.yaml' })).toMatchObject({
      server: { port: 3333, host: '127.0.0.1' },
      instances: { forceDeleteUnknown: true },
    })
    expect(await load({ file: 'application.yaml', env: { SPRING_PROFILES_ACTIVE: 'cloud' } })).toMatchObject({
      server: { port: 2222, host: '127.0.0.2' },
      instances: { forceDeleteUnknown: true },
    })
  })

  it('holds the catalog also where no active profile has one, so that this is told', async () => {
    const documents = `spring.application.name: x
---
spring.config.activate.on-profile: dev
spring.cloud.openservicebroker.catalog.services: [{ id: s }]
`
    write('application.yaml', documents)
    const env = { SPRING_PROFILES_ACTIVE: 'prod' }
    const { catalog = '' } = await load({ file: 'application.yaml', env })
    expect(catalog).toBe(join(cwd, 'application.yaml'))
    await expect(loadCatalogFile(catalog, env)).rejects.toThrow(
      'it has no catalog for the active profiles (prod); set SPRING_PROFILES_ACTIVE; it has one for: dev',
    )
  })

  it('may be an application.properties', async () => {
    write(
      'application.properties',
      `spring.application.name=my-broker
com.equalities.osbapi.service-instances.force-delete-unknown=true
server.port=\${PORT:9090}
server.servlet.context-path=/
store=sqlite:\${spring.application.name}.db
spring.cloud.openservicebroker.catalog.services[0].id=s
#---
spring.config.activate.on-profile=cloud
server.port=9191
`,
    )
    expect(await load({ file: 'application.properties' })).toMatchObject({
      server: { port: 9090 },
      instances: { forceDeleteUnknown: true },
      store: `sqlite:${join(cwd, 'my-broker.db')}`,
      catalog: join(cwd, 'application.properties'),
    })
    const env = { SPRING_PROFILES_ACTIVE: 'cloud' }
    expect(await load({ file: 'application.properties', env })).toMatchObject({ server: { port: 9191 } })
  })

  it('still has its mistakes told', async () => {
    write('application.properties', 'spring.a=1\n#---\nserver.port=many\n')
    expect(await mistakes({ file: 'application.properties' })).toEqual([
      'application.properties:3 server.port: found "many"; allowed: a whole number from 0 to 65535',
    ])
    write(
      'application.yaml',
      'spring: {}\nserver: { port: many }\ncom.equalities.osbapi.serviceBindings.forceDeleteUnknown: 1\n',
    )
    expect(await mistakes({ file: 'application.yaml' })).toEqual([
      'application.yaml:2 server.port: found "many"; allowed: a whole number from 0 to 65535',
      'application.yaml:3 bindings.forceDeleteUnknown: found 1; allowed: true or false',
    ])
  })
})

describe('mistakes', () => {
  it('are all told at once, with line, setting, what was found, what is allowed and what was meant', async () => {
    write(
      'purser.yaml',
      `broker: missing.mjs
prot: 80
server:
  port: 80a
  tsl: { cert: a }
  tls: { cert: missing.pem }
  public-url: ftp://user:canary@x
store: postgres//u:canary@db/x
engine:
  concurency: 3
  lease: 10s
  retry: { initial: 2m, max: "\${RETRY_MAX}" }
osb: yes
log: { format: xml }
`,
    )
    const lines = await mistakes({
      env: { PURSER_SERVER_HOST: 'a b', PURSER_USERNAME: 'x' },
      flags: { store: 'redis:x', set: ['server.prot=1', 'x'] },
    })
    expect(lines).toEqual([
      `purser.yaml:1 broker: found ${join(cwd, 'missing.mjs')}, which does not exist; correct the path`,
      'purser.yaml:2 prot: unknown setting; did you mean server.port?',
      'purser.yaml:4 server.port: found "80a"; allowed: a whole number from 0 to 65535',
      'purser.yaml:5 server.tsl: unknown setting; did you mean server.tls?',
      `purser.yaml:6 server.tls.cert: found ${join(cwd, 'missing.pem')}, which does not exist; correct the path`,
      'purser.yaml:6 server.tls.key: is missing; allowed: the path of a file',
      'purser.yaml:7 server.publicUrl: found "ftp://[hidden]@x"; allowed: an http or https URL without user, query and fragment',
      'purser.yaml:9 engine.callTimeout: found its default "12s"; must be at most 40 % of engine.lease, so that a call ends before its lease; lower it, or raise the lease',
      'purser.yaml:10 engine.concurency: unknown setting; did you mean engine.concurrency?',
      `purser.yaml:12 engine.retry.max: the environment variable RETRY_MAX is not set; set it, or write a default: \${RETRY_MAX:default}`,
      'purser.yaml:13 osb: found "yes"; allowed: a map of settings',
      'purser.yaml:14 log.format: found "xml"; allowed: json or people',
      'PURSER_PASSWORD: is missing beside PURSER_USERNAME; set both',
      '--set server.prot: unknown setting; did you mean server.port?',
      '--set: write it as setting=value, such as engine.lease=30s',
      '--store store: found "redis:x"; allowed: memory:, sqlite:<file>, postgres://… or mongodb://…',
      'PURSER_SERVER_HOST server.host: found "a b"; allowed: a host name or an IP address',
    ])
  })

  it('of users never show a password', async () => {
    write(
      'purser.yaml',
      `auth:
  basic:
    - { username: a, pasword: canary-1 }
    - { username: b, password: canary-2, passwordHash: canary-3 }
    - { username: "b:c", password: 12345678 }
    - { username: b, password: x, roles: [root], previous-password-hash: [canary-4] }
`,
    )
    const lines = await mistakes()
    expect(lines.join('\n')).not.toMatch(/canary|12345678/)
    expect(lines).toEqual([
      'purser.yaml:3 auth.basic[0].pasword: unknown setting; did you mean auth.basic[0].password?',
      'purser.yaml:3 auth.basic[0]: needs exactly one of password and passwordHash; make a hash with "purser hash-password"',
      'purser.yaml:4 auth.basic[1].passwordHash: found a text (not shown); allowed: a hash made with "purser hash-password" (scrypt$N$r$p$salt$hash)',
      'purser.yaml:4 auth.basic[1]: needs exactly one of password and passwordHash; make a hash with "purser hash-password"',
      'purser.yaml:5 auth.basic[2].username: found "b:c"; allowed: a text without a colon and control characters, in quotes where it is a number',
      'purser.yaml:5 auth.basic[2].password: found a number (not shown); allowed: a text without control characters, such as a line end; in quotes where it is a number',
      'purser.yaml:6 auth.basic[3].previousPasswordHash: found a list; allowed: a hash made with "purser hash-password" (scrypt$N$r$p$salt$hash)',
      'purser.yaml:6 auth.basic[3].roles[0]: found "root"; allowed: platform or viewer or operator or admin',
      'purser.yaml:6 auth.basic[3].username: found "b"; it is the name of a user above; give each a name of its own',
    ])
  })

  it.each([
    ['store: postgres://u:canary@db:5432/x?password=canary\nserver: { port: x }'],
    ['store: postgres//u:canary?@db'],
    ['store: mongo://h?password=canary@x'],
    ['auth: canary'],
    ['auth: { basic: canary }'],
    ['auth:\n  basic:\n    - canary'],
    ['auth: { basic: [{ username: a, password: "canary\\q" }] }'],
    ['auth:\n  basic:\n  - password: *canary'],
    ['auth:\n  basic:\n password: canary\n  x: y'],
    ['auth: { password: canary'],
    ['- password: canary'],
  ])('never show the secret in %j', async yaml => {
    write('purser.yaml', yaml)
    const lines = await mistakes()
    expect(lines.length).toBeGreaterThan(0)
    expect(lines.join('\n')).not.toContain('canary')
    expect(lines[0]).toMatch(/^purser\.yaml(:\d+)?:? /)
  })

  it.each([
    ['a: 1\na: 2\n', /^purser\.yaml:2: the key "a" is given twice, first in line 1/],
    ['a: 1\n---\nb: 2\n', /^purser\.yaml:3: the file holds several YAML documents; keep one$/],
    [
      'server: { bodyLimit: 1KB }\nserver.body-limit: 2KB\n',
      /^purser\.yaml:2 server\.bodyLimit: is given twice, first in line 1/,
    ],
    [
      'auth:\n  jwt:\n    - { name: a, issuer: https://a.example, audience: [one], keysUrl: https://a.example/k }\n    - { name: b, issuer: https://a.example, audience: [two], keysUrl: https://a.example/k }\n',
      /^purser\.yaml:4 auth\.jwt\[1\]\.issuer: found "https:\/\/a\.example"; it is the issuer of an entry above; /,
    ],
    ['just text', /^purser\.yaml:1: the file is not a map of settings/],
    ['port: 80', /^purser\.yaml:1 port: unknown setting; did you mean server\.port\?$/],
    ['store: "sqlite:"', /found "sqlite:"/],
    ['store: memory:', /^purser\.yaml:1: not valid YAML: .*in quotes/],
    ['store: "sqlite::memory:"', /allowed: memory:/],
    ['__proto__: { port: 1 }', /a key must not be called __proto__/],
    [
      'constructor: 1',
      /^purser\.yaml:1 constructor: unknown setting; known here: broker, catalog, store, ledger, encryption, server, /,
    ],
  ])('in %j name the line', async (yaml, expected) => {
    write('purser.yaml', yaml)
    expect((await mistakes())[0]).toMatch(expected)
  })

  it('tell of a file that is not there, and of one that is a folder', async () => {
    expect(await mistakes({ file: 'no.yaml' })).toEqual([
      `--config: found ${join(cwd, 'no.yaml')}, which does not exist; correct the path`,
    ])
    expect((await mistakes({ env: { PURSER_CONFIG: 'no.yaml' } }))[0]).toMatch(/^PURSER_CONFIG: /)
    mkdirSync(join(cwd, 'purser.yaml'))
    expect((await mistakes())[0]).toMatch(/cannot be read \(EISDIR\)/)
  })
})

describe('toSettings', () => {
  it('leaves out no section that a broker has', async () => {
    const settings = toSettings(await load({ env: { PURSER_METRICS_SERVE: 'open', PURSER_TRACES_MODE: 'linked' } }))
    expect(settings).toMatchObject({ metrics: { serve: 'open' }, traces: { mode: 'linked' } })
    expect(Object.keys(settings).sort()).toEqual([...Object.keys(brokerSections), 'server'].sort())
  })
})

function write(name: string, text: string): void {
  mkdirSync(join(cwd, name, '..'), { recursive: true })
  writeFileSync(join(cwd, name), text)
}

function load(options: Partial<LoadConfigOptions> = {}) {
  return hidden(options).then(revealAll)
}

function hidden(options: Partial<LoadConfigOptions> = {}) {
  return loadConfig({ env: {}, flags: {}, cwd, terminal: false, ...options })
}

function mistakes(options: Partial<LoadConfigOptions> = {}): Promise<string[]> {
  return mistakesIn(load(options))
}
