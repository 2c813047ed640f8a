import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/server/config.ts'
import { mistakesIn } from './mistakes.ts'
import { revealAll } from './reveal-all.ts'

let cwd = ''
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'purser-config-'))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

const automationBroker = `registry:
  - type: dockerhub
    name: dh
    url: docker.io
    org: ansibleplaybookbundle
    tag: { default: latest, named: { ansibleplaybookbundle/mysql-apb: 1.10 } }
    white_list:
      - ".*-apb$"
    black_list: []
    auth_type: ""
    auth_name: ""
    fail_on_error: false
    user: \${HUB_USER:}
    pass: \${HUB_PASSWORD}
`

describe('registries', () => {
  it('are read as the Automation Broker has them, with the environment in place', async () => {
    const { registries } = await load(automationBroker, { HUB_USER: 'me', HUB_PASSWORD: 'secret-1' })
    expect(registries).toMatchObject([
      {
        name: 'dh',
        type: 'dockerhub',
        org: 'ansibleplaybookbundle',
        tag: { default: 'latest', named: { 'ansibleplaybookbundle/mysql-apb': '1.10' } },
        whiteList: ['.*-apb$'],
        user: 'me',
        pass: 'secret-1',
      },
    ])
  })

  it('have paths that start from the file that they stand in', async () => {
    mkdirSync(join(cwd, 'etc'))
    writeFileSync(
      join(cwd, 'etc', 'purser.yaml'),
      'registries: [{ name: a, path: bundles, white_list: [a], auth_type: file, auth_name: login.yaml }]\n',
    )
    const { registries } = await loadConfig({ file: 'etc/purser.yaml', env: {}, flags: {}, cwd, terminal: false })
    expect(registries).toMatchObject([{ path: join(cwd, 'etc/bundles'), authName: join(cwd, 'etc/login.yaml') }])
  })

  it('have every mistake told with its place, and no secret', async () => {
    const told = await mistakes(`registries:
  - name: dh
    type: dockerhub
    white_list: ["(" ]
    auth_type: config
    pass: very-secret
  - name: dh
    type: ftp
  - name: hub
    type: oci
    url: https://me:very-secret@registry.example.com
`)
    expect(told).toEqual([
      expect.stringMatching(/^purser\.yaml:2 registries\[0\]: needs org or images/),
      expect.stringMatching(/^purser\.yaml:2 registries\[0\]: needs credentials, since auth_type is config/),
      expect.stringMatching(/^purser\.yaml:4 registries\[0\]\.white_list\[0\]: /),
      expect.stringMatching(/^purser\.yaml:7 registries\[1\]\.name: .*used twice/),
      expect.stringMatching(/^purser\.yaml:8 registries\[1\]\.type: found "ftp"; allowed: directory or oci/),
      expect.stringMatching(/^purser\.yaml:11 registries\[2\]\.url: .*without a user in it/),
    ])
    expect(told.join()).not.toContain('very-secret')
  })

  it('are told once', async () => {
    expect(await mistakes('registries: []\nregistry: []\n')).toEqual([
      'purser.yaml:2 registry: stands beside "registries", which is the same; keep one',
    ])
    expect(await mistakes('registries: all\n')).toEqual([
      expect.stringMatching(/^purser\.yaml:1 registries: .*a list of registries/),
    ])
    expect(await mistakes(`registries: [{ name: a, path: "\${NOWHERE}", white_list: [a] }]\n`)).toContainEqual(
      expect.stringContaining('the environment variable NOWHERE is not set'),
    )
  })

  it('that let nothing pass are worth a warning', async () => {
    const { warnings, registries } = await load('registries:\n  - name: a\n    path: bundles\n    colour: red\n')
    expect(registries).toHaveLength(1)
    expect(warnings).toEqual([
      expect.stringMatching(/^purser\.yaml:4 registries\[0\]\.colour: is not known here/),
      expect.stringMatching(/^purser\.yaml:2 registries\[0\]: needs a white_list/),
    ])
  })

  it('may stand in the file of a Spring broker', async () => {
    const text = 'spring: { application: { name: x } }\nregistry: [{ name: a, path: b, white_list: [a] }]\n'
    expect((await load(text)).registries).toMatchObject([{ name: 'a' }])
  })
})

describe('reconcile', () => {
  it('is read in any spelling', async () => {
    const { reconcile } = await load('reconcile: { retire-after: 2h, failure_limit: 3, retiredPlans: fail-async }\n')
    expect(reconcile).toEqual({ retireAfter: 7_200_000, failureLimit: 3, emptyAfter: 3, retiredPlans: 'fail-async' })
  })
})

describe('bundles', () => {
  it('have absolute paths, and what was written in numbers', async () => {
    writeFileSync(join(cwd, 'db.yaml'), 'password: x\n')
    const { bundles } = await load(`bundles:
  runtime: container
  folder: run
  socket: podman.sock
  user: 1001:1002
  memory: 2GB
  cpu: 0.5
  timeout: 90s
  keep-on-error: true
  keep-pinned: true
  secrets: [{ bundle: dh-db-apb, file: db.yaml }]
`)
    expect(bundles).toEqual({
      runtime: 'container',
      manifests: { kinds: [], namespaces: ['context'], watch: true },
      secretsFrom: 'folder',
      folder: join(cwd, 'run'),
      socket: join(cwd, 'podman.sock'),
      user: { uid: 1001, gid: 1002 },
      exposeFiles: false,
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
      keepPinned: true,
      timeout: 90_000,
      memory: 2_147_483_648,
      cpu: 0.5,
      output: 16_777_216,
      processes: 512,
      keepOnError: true,
      secretsFolder: '/etc/purser/secrets',
      secrets: [{ bundle: 'dh-db-apb', file: join(cwd, 'db.yaml') }],
    })
    expect((await load('bundles: { user: 65534 }\n')).bundles.user).toEqual({ uid: 65_534, gid: 65_534 })
  })

  it('have the secrets of an Automation Broker, and exactly one place for each', async () => {
    const { bundles } = await load('secrets:\n  - { title: DB, apb_name: dh-db-apb, secret: db-secret }\n')
    expect(bundles.secrets).toEqual([{ bundle: 'dh-db-apb', secret: 'db-secret' }])
    expect(await mistakes('secrets: [{ apb_name: a, secrte: b }]\n')).toEqual([expect.stringContaining('secrets')])
    expect(await mistakes('bundles: { secrets: [{ bundle: a }] }\n')).toEqual([
      expect.stringContaining('needs exactly one of file and secret'),
    ])
  })

  it('have every mistake told', async () => {
    expect(
      await mistakes(
        'bundles:\n  user: nobody\n  memory: 1MB\n  runtime: vm\n  secrets: [{ bundle: a, file: none.yaml }]\n',
      ),
    ).toEqual([
      expect.stringMatching(/^purser\.yaml:2 bundles\.user: found "nobody"; allowed: the number of a user/),
      expect.stringMatching(/^purser\.yaml:3 bundles\.memory: found "1MB"; allowed: a size from 16MB to 1000GB/),
      'purser.yaml:4 bundles.runtime: found "vm"; allowed: auto or process or container or kubernetes',
      `purser.yaml:5 bundles.secrets[0].file: found ${join(cwd, 'none.yaml')}, which does not exist; correct the path`,
    ])
  })
})

function load(text: string, env: Record<string, string> = {}) {
  writeFileSync(join(cwd, 'purser.yaml'), text)
  return loadConfig({ env, flags: {}, cwd, terminal: false }).then(revealAll)
}

function mistakes(text: string): Promise<string[]> {
  return mistakesIn(load(text))
}
