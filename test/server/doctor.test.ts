/** Each look on the real thing: files, certificates made by openssl, databases, registries, an engine's socket. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { loadConfig } from '../../src/server/config.ts'
import { type Right, rightsFor } from '../../src/server/doctor/cluster-rights.ts'
import { examine } from '../../src/server/doctor/run.ts'
import { openSqliteStore } from '../../src/store/sqlite/index.ts'
import { makeFolder, runCli } from '../cli/test-io.ts'
import { freePort } from '../external/free-port.ts'
import { connect } from '../external/postgres-connection.ts'
import { describeMongo, newDatabase, withStores } from '../store/mongodb-subject.ts'
import { describePostgres, newSchema, openStore } from '../store/postgres-subject.ts'
import { certify } from './dated-certificate.ts'

/** In a folder that only its user can enter nothing would be open to others. */
async function makeOpenFolder(): Promise<string> {
  const folder = await makeFolder()
  chmodSync(folder, 0o755)
  return folder
}

/** What is found in a folder with these settings. A broker module is there. */
async function look(yaml: string, folder?: string, env: Readonly<Record<string, string>> = {}) {
  const cwd = folder ?? (await makeOpenFolder())
  writeFileSync(join(cwd, 'broker.mjs'), '')
  writeFileSync(join(cwd, 'purser.yaml'), yaml)
  const findings = await examine({ env, flags: {}, cwd })
  return Object.assign(findings, { of: (about: string) => findings.filter(finding => finding.about === about) })
}

describe('purser doctor', () => {
  const env = { PURSER_USERNAME: 'admin', PURSER_PASSWORD: 'sesame' }

  it('says what it found, and leaves nothing behind', async () => {
    const cwd = await makeFolder()
    writeFileSync(join(cwd, 'broker.mjs'), 'throw new Error("it was run")')
    const { code, out, err } = await runCli(['doctor'], { cwd, env })
    expect(err).toBe('')
    expect(out).toMatch(/^ok {7}configuration: there is no file/)
    expect(out).toContain('ok       store schema: nothing is there yet: a broker makes it when it starts\n')
    expect(out).toMatch(/\d checks: \d ok, 0 warnings, 0 wrong\.\n$/)
    expect(code).toBe(0)
    expect(readdirSync(cwd)).toEqual(['broker.mjs'])
  })

  it('ends with 1 where something is wrong; a warning does not count', async () => {
    const cwd = await makeFolder()
    const { code, out, err } = await runCli(['doctor', '--set', 'store=memory'], { cwd, env })
    expect(out).toContain('warning  store\n         expected  a store that outlives the broker\n')
    expect(out).toContain(
      'wrong    broker\n         expected  a broker module, or registries\n         found     nothing in',
    )
    expect(err).toContain('error: one thing is wrong\n  why: broker\n')
    expect(code).toBe(1)
  })

  it('prints one document with --output json, whatever it found', async () => {
    const cwd = await makeFolder()
    const wrong = await runCli(['doctor', '--output', 'json'], { cwd, env })
    expect(JSON.parse(wrong.out)).toMatchObject({ error: 'one thing is wrong', wrong: 1, findings: expect.any(Array) })
    writeFileSync(join(cwd, 'broker.mjs'), '')
    const right = await runCli(['doctor', '--output', 'json'], { cwd, env })
    expect(JSON.parse(right.out)).toMatchObject({ wrong: 0, findings: expect.any(Array) })
    expect([wrong.code, right.code]).toEqual([1, 0])
  })

  it('lists the mistakes of a configuration, with their lines', async () => {
    const findings = await look('server:\n  prot: 80\nlog:\n  level: loud\n')
    expect(findings.map(({ state, found }) => [state, found.replace(/^.*yaml/, '')])).toEqual([
      ['wrong', ':2 server.prot: unknown setting'],
      ['wrong', expect.stringContaining(':4')],
    ])
    expect(findings[0]?.remedy).toContain('server.port')
  })
})

describe('doctor: broker and sign-in', () => {
  it('reads the catalog file', async () => {
    const cwd = await makeOpenFolder()
    writeFileSync(join(cwd, 'catalog.yaml'), 'services: [{ name: db }]\n')
    expect((await look('catalog: catalog.yaml', cwd)).of('catalog')).toMatchObject([{ state: 'wrong' }])
  })

  it.each([
    ['server: { host: 0.0.0.0 }', 'sign-in', 'wrong'],
    ['server: { host: 127.0.0.1 }', 'sign-in', 'warning'],
    ['auth: { basic: [{ username: cf, password: x }] }', 'admin sign-in', 'warning'],
    ['auth: { basic: [{ username: ops, password: x, roles: [viewer] }] }', 'platform sign-in', 'warning'],
    ['auth: { basic: [{ username: ops, password: x, roles: [platform, admin] }] }', 'admin sign-in', 'ok'],
    [
      'server: { host: 0.0.0.0 }\nauth: { basic: [{ username: ops, password: x, roles: [admin] }] }',
      'encryption',
      'warning',
    ],
  ])('%s: %s is %s', async (yaml, about, state) => {
    expect((await look(yaml)).of(about)).toMatchObject([{ state }])
  })
})

describe('doctor: TLS', () => {
  const [past, day] = ['2020-01-01T00:00:00Z', 86_400_000]
  const inDays = (days: number) => new Date(Date.now() + days * day).toISOString()

  it.each([
    ['expired', past, '2020-02-01T00:00:00Z', 'wrong', /it has expired on 2020-02-01T00:00:00/],
    ['not valid yet', inDays(2), inDays(400), 'wrong', /it is valid only from/],
    ['expiring soon', past, inDays(10), 'warning', /it expires on/],
    ['good', past, inDays(100), 'ok', /it expires on/],
  ])('a certificate that is %s', async (_name, from, to, state, found) => {
    const cwd = await makeOpenFolder()
    certify(cwd, 'own', from, to)
    const url = 'https://localhost:8443'
    const findings = await look(`server: { publicUrl: "${url}", tls: { cert: own.crt, key: own.key } }`, cwd)
    expect(findings.of('tls')).toMatchObject([{ state: 'ok' }])
    expect(findings.of('tls validity')).toMatchObject([{ state, found: expect.stringMatching(found) }])
    expect(findings.of('tls name')).toMatchObject([{ state: 'ok' }])
  })

  it('a key of another certificate, and a certificate for another name', async () => {
    const cwd = await makeOpenFolder()
    certify(cwd, 'own', past, inDays(100))
    certify(cwd, 'other', past, inDays(100))
    const mixed = await look('server: { tls: { cert: own.crt, key: other.key } }', cwd)
    expect(mixed.of('tls')).toMatchObject([{ state: 'wrong', found: expect.stringContaining('does not belong to') }])
    const named = await look(
      'server: { publicUrl: "https://broker.example.com", tls: { cert: own.crt, key: own.key } }',
      cwd,
    )
    expect(named.of('tls name')).toMatchObject([
      { state: 'warning', found: 'it is for DNS:localhost, IP Address:127.0.0.1' },
    ])
  })
})

describe('doctor: files with secrets', () => {
  const yaml = 'auth: { basic: [{ username: ops, password: open-sesame, roles: [platform, admin] }] }\n'

  async function lookAt(mode: number, text = yaml, env?: Readonly<Record<string, string>>) {
    const cwd = await makeOpenFolder()
    const file = join(cwd, 'purser.yaml')
    writeFileSync(file, text)
    chmodSync(file, mode)
    return { file, cwd, found: (await look(text, cwd, env)).of(`file ${file}`) }
  }

  it('a configuration with a password that everybody can read', async () => {
    const { file, found } = await lookAt(0o644)
    expect(found).toMatchObject([
      {
        state: 'wrong',
        found: 'its mode is 0644: every user of this machine may read it',
        remedy: `Run chmod 600 ${file}`,
      },
    ])
    expect(JSON.stringify(found)).not.toContain('sesame')
    expect((await lookAt(0o600)).found).toMatchObject([{ state: 'ok' }])
  })

  it('a placeholder is no secret', async () => {
    const text = yaml.replace('open-sesame', `\${SECRET}`)
    expect((await lookAt(0o644, text, { SECRET: 'open-sesame' })).found).toEqual([])
  })

  it('a folder that nobody else can enter protects it; one in which others may write does not', async () => {
    const { cwd, file } = await lookAt(0o644)
    chmodSync(cwd, 0o700)
    expect((await look(yaml, cwd)).of(`file ${file}`)).toMatchObject([{ state: 'ok' }])
    chmodSync(file, 0o600)
    chmodSync(cwd, 0o777)
    expect((await look(yaml, cwd)).of(`file ${file}`)).toMatchObject([
      { state: 'wrong', remedy: `Run chmod o-w ${cwd}` },
    ])
  })

  it('credentials of registries, secrets of bundles, and the ledger', async () => {
    const cwd = await makeOpenFolder()
    mkdirSync(join(cwd, 'secrets', 'team'), { recursive: true })
    // As Kubernetes mounts a Secret.
    mkdirSync(join(cwd, 'secrets', 'mounted', '..data'), { recursive: true })
    writeFileSync(join(cwd, 'secrets', 'mounted', '..data', 'password'), 'x')
    symlinkSync(join('..data', 'password'), join(cwd, 'secrets', 'mounted', 'password'))
    for (const name of ['hub.yaml', 'bundle.yaml', 'purser.db', join('secrets', 'team', 'password')])
      writeFileSync(join(cwd, name), 'user: x\npass: y\n', { mode: 0o644 })
    writeFileSync(join(cwd, 'purser.db'), '')
    const findings = await look(
      `registries: [{ name: hub, type: dockerhub, org: a, white_list: [".*"], auth_type: file, auth_name: hub.yaml, url: "http://127.0.0.1:1" }]
bundles:
  secretsFolder: ${join(cwd, 'secrets')}
  secrets: [{ bundle: a, file: bundle.yaml }, { bundle: a, secret: team }, { bundle: a, secret: mounted }]
`,
      cwd,
    )
    const states = findings
      .filter(({ about }) => about.startsWith('file '))
      .map(({ about, state }) => [about.slice(6 + cwd.length), state])
    expect(states).toEqual([
      ['bundle.yaml', 'wrong'],
      ['hub.yaml', 'wrong'],
      ['secrets/team/password', 'wrong'],
      ['secrets/mounted/password', 'ok'],
      ['purser.db', 'warning'],
    ])
  })
})

describe('doctor: SQLite', () => {
  it('a ledger, also while its broker has it', async () => {
    const cwd = await makeOpenFolder()
    const store = await openSqliteStore({ file: join(cwd, 'purser.db') })
    await store.close()
    const closed = await look('', cwd)
    expect(closed.of('store schema')).toMatchObject([{ state: 'ok', found: expect.stringMatching(/^version \d+$/) }])
    writeFileSync(join(cwd, 'purser.db.owner.json'), '{"pid":42,"host":"db1","since":"2026-01-01T00:00:00Z"}')
    expect((await look('', cwd)).of('store')[0]?.found).toContain('process 42 on host db1 since')
    expect(existsSync(join(cwd, 'purser.db-wal'))).toBe(false)
    // Its pages may all be in the log.
    writeFileSync(join(cwd, 'purser.db'), '')
    writeFileSync(join(cwd, 'purser.db-wal'), 'log')
    expect((await look('', cwd)).of('store schema')).toEqual([])
  })

  it.each([
    [
      'a text',
      'this is a text, and no database at all: it is long enough to be one, but for what it says in it.........',
    ],
    [
      'another database',
      Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(12), Buffer.from([0, 0, 0, 9]), Buffer.alloc(68)]),
    ],
  ])('%s in its place is wrong', async (_name, content) => {
    const cwd = await makeOpenFolder()
    writeFileSync(join(cwd, 'purser.db'), content)
    expect((await look('', cwd)).of('store')).toMatchObject([{ state: 'wrong' }])
  })

  it('so is a ledger of a newer release, and a folder that is a file', async () => {
    const cwd = await makeOpenFolder()
    const file = join(cwd, 'purser.db')
    await (await openSqliteStore({ file })).close()
    const bytes = readFileSync(file)
    bytes.writeUInt32BE(10_000, 60)
    writeFileSync(file, bytes)
    expect((await look('', cwd)).of('store')[0]).toMatchObject({
      state: 'wrong',
      found: expect.stringContaining('newer release'),
    })
    expect((await look('store: sqlite:purser.yaml/purser.db', cwd)).of('store')[0]).toMatchObject({ state: 'wrong' })
  })
})

describePostgres('doctor: PostgreSQL', server => {
  const settings = (schema: string, more = '') =>
    `store: ${server.url}\nledger: { schema: ${schema}, connectTimeout: 60s }\n${more}`

  it('reach, schema, clock and name', async () => {
    const schema = newSchema()
    const before = await look(settings(schema))
    expect(before.of('store schema')).toMatchObject([
      { state: 'ok', found: expect.stringContaining('nothing is there yet') },
    ])
    expect(before.of('clock')).toMatchObject([{ state: 'ok' }])
    const admin = await connect(server.url)
    onTestFinished(() => admin.end())
    const { rows } = await admin.query({ text: 'select 1 from pg_namespace where nspname = $1', values: [schema] })
    expect(rows).toEqual([])

    const store = await openStore({ url: server.url, schema })
    await store.takeName({ name: 'one', owner: 'elsewhere/1/x', silence: 3_000 })
    const after = await look(settings(schema, 'engine: { name: one }'))
    expect(after.of('store schema')).toMatchObject([{ state: 'ok', found: expect.stringMatching(/^version/) }])
    expect(after.of('name')).toMatchObject([
      { state: 'warning', found: expect.stringContaining('elsewhere/1/x has it') },
    ])
    await store.releaseName('one', 'elsewhere/1/x')
    expect((await look(settings(schema, 'engine: { name: one }'))).of('name')).toMatchObject([{ state: 'ok' }])

    await admin.query({ text: `delete from ${schema}.migration where number > 3` })
    expect((await look(settings(schema))).of('store schema')).toMatchObject([{ state: 'warning', found: 'version 3' }])
    await admin.query({ text: `insert into ${schema}.migration (number) values (10000)` })
    expect((await look(settings(schema))).of('store')).toMatchObject([
      { state: 'wrong', found: expect.stringContaining('newer release') },
    ])
  })

  it('a user who may too little', async () => {
    const schema = newSchema()
    await openStore({ url: server.url, schema })
    const admin = await connect(server.url)
    onTestFinished(() => admin.end())
    await admin.query({
      text: `create role reader login password 'reader'; grant usage on schema ${schema} to reader;
      grant select on all tables in schema ${schema} to reader`,
    })
    const url = new URL(server.url)
    url.username = 'reader'
    url.password = 'reader'
    const findings = await look(`store: ${url}\nledger: { schema: ${schema} }`)
    const rights = findings.of('store rights')
    expect(rights.length).toBeGreaterThan(5)
    expect(rights).toContainEqual(
      expect.objectContaining({
        state: 'wrong',
        found: expect.stringMatching(/^it may not .*insert.* in the table operation$/),
      }),
    )
  })

  it('nobody answers', async () => {
    const findings = await look(`store: postgres://purser:secret-1@127.0.0.1:${await freePort()}/purser`)
    expect(findings.of('store')).toMatchObject([{ state: 'wrong', expected: expect.stringContaining('[hidden]') }])
    expect(JSON.stringify(findings)).not.toContain('secret-1')
  })
})

describeMongo('doctor: MongoDB', server => {
  it('reach, schema and clock; nothing is made', async () => {
    const settings = (database: string) => {
      const url = new URL(server().url)
      url.pathname = `/${database}`
      return `store: ${url}\nledger: { connectTimeout: 60s }\nengine: { name: one }`
    }
    const empty = await look(settings(newDatabase()))
    expect(empty.of('store schema')).toMatchObject([
      { state: 'ok', found: expect.stringContaining('nothing is there yet') },
    ])
    expect(empty.of('clock')).toMatchObject([{ state: 'ok' }])
    await withStores(server(), 1, async ([store], database) => {
      await store?.takeName({ name: 'one', owner: 'elsewhere/1/x', silence: 3_000 })
      const findings = await look(settings(database))
      expect(findings.of('store schema')).toMatchObject([{ state: 'ok', found: expect.stringMatching(/^version/) }])
      expect(findings.of('name')).toMatchObject([{ state: 'warning' }])
    })
  })
})

describe('doctor: registries and runtimes', () => {
  it('a registry that does not answer, one that refuses, and a folder', async () => {
    const cwd = await makeOpenFolder()
    mkdirSync(join(cwd, 'bundles'))
    const refusing = createServer((_request, response) => response.writeHead(401).end())
    await new Promise<void>(resolve => refusing.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void refusing.close())
    const { port } = refusing.address() as AddressInfo
    const findings = await look(
      `registries:
  - { name: silent, type: oci, url: "http://127.0.0.1:${await freePort()}", images: [a/b], white_list: [".*"] }
  - { name: strict, type: oci, url: "http://127.0.0.1:${port}", images: [a/b], white_list: [".*"], user: u, pass: secret-2 }
  - { name: empty, type: directory, path: bundles, white_list: [".*"] }
bundles: { socket: ${join(cwd, 'none.sock')} }
`,
      cwd,
    )
    expect(findings.of('registry silent')).toMatchObject([{ state: 'wrong' }])
    expect(findings.of('registry strict')).toMatchObject([{ state: 'wrong', found: expect.stringContaining('401') }])
    expect(findings.of('registry empty')).toMatchObject([{ state: 'warning', found: 'it has none' }])
    expect(findings.of('runtime container')).toMatchObject([
      { state: 'wrong', found: expect.stringContaining('none.sock') },
    ])
    expect(findings.of('runtime process')).toHaveLength(1)
    expect(findings.of('bundles folder')).toMatchObject([{ state: 'ok', found: 'it will be made' }])
    expect(JSON.stringify(findings)).not.toContain('secret-2')
    expect(existsSync(join(cwd, '.purser'))).toBe(false)
  })

  it('an engine that answers', async () => {
    const cwd = await makeOpenFolder()
    const socket = join(cwd, 'engine.sock')
    const engine = createServer((request, response) => {
      response.writeHead(200, { 'api-version': '1.44', 'content-type': 'application/json' })
      response.end(request.url === '/_ping' ? '"OK"' : '{"Version":"5.1.0"}')
    })
    await new Promise<void>(resolve => engine.listen(socket, resolve))
    onTestFinished(() => void engine.close())
    const findings = await look(`osb: { apbRoutes: true }\nbundles: { runtime: container, socket: ${socket} }`, cwd)
    expect(findings.of('runtime container')).toMatchObject([{ state: 'ok', found: 'version 5.1.0' }])
  })

  it('a cluster that does not answer, or is not named', async () => {
    const cwd = await makeOpenFolder()
    const cluster = `clusters: [{ name: c, cluster: { server: "http://127.0.0.1:${await freePort()}" } }]`
    const user = 'users: [{ name: u, user: { token: t } }]\ncontexts: [{ name: x, context: { cluster: c, user: u } }]'
    writeFileSync(join(cwd, 'kube.yaml'), `apiVersion: v1\nkind: Config\n${cluster}\n${user}\ncurrent-context: x\n`)
    const yaml =
      'osb: { apbRoutes: true }\nbundles: { runtime: kubernetes, kubernetes: { kubeconfig: kube.yaml, context: y } }'
    const unknown = await look(yaml, cwd)
    expect(unknown.of('runtime kubernetes')).toMatchObject([
      { state: 'wrong', found: expect.stringContaining('no context "y"') },
    ])
  })
})

describe('doctor: rights in a cluster', () => {
  const folder = join(import.meta.dirname, '../..')
  interface Rule {
    readonly apiGroups: readonly string[]
    readonly resources: readonly string[]
    readonly verbs: readonly string[]
    readonly resourceNames?: readonly string[]
  }

  it('are those that deploy/kubernetes gives', async () => {
    const text = readFileSync(join(folder, 'deploy/kubernetes/purser.yaml'), 'utf8')
    const roles = parseAllDocuments(text)
      .map(document => document.toJS() as { kind: string; metadata: { name: string }; rules?: readonly Rule[] })
      .filter(({ kind, metadata }) => /^(Cluster)?Role$/.test(kind) && !metadata.name.endsWith('-bundles'))
    const given = roles.flatMap(({ kind, rules = [] }) =>
      rules.flatMap(({ apiGroups: [group = ''], resources, verbs, resourceNames = [undefined] }) =>
        resources.flatMap(resource =>
          verbs.flatMap(verb =>
            resourceNames.map(name => say({ group, resource, verb, name, ...(kind === 'Role' && { home: true }) })),
          ),
        ),
      ),
    )
    const { bundles } = await loadConfig({ env: {}, flags: {}, cwd: await makeFolder() })
    expect(rightsFor(bundles).map(say).toSorted()).toEqual(given.toSorted())
  })

  function say({
    group,
    resource,
    verb,
    name = '',
    home,
  }: Omit<Right, 'name'> & { readonly name?: string | undefined }): string {
    return [home ? 'home' : 'cluster', group, resource, verb, name].join(' ')
  }
})
