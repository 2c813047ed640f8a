/** Bundles that do their worst, through the whole broker as it is installed: each fails clearly, and nothing is left. */
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { createProcessRuntime } from '../../src/sandbox/process/process-runtime.ts'
import { useBuiltPackage } from '../cli/built-package.ts'
import { bundleUser, leftoversIn, survivors } from '../sandbox/process-subject.ts'
import { endOfSync } from './broker.ts'
import { type BrokerProcess, serve, served, user } from './broker-process.ts'

const built = useBuiltPackage()
/** No other process of this machine has it among its arguments. */
const mark = `86400.${process.pid}${Date.now()}`
const canary = 'hush-canary-7'

interface Bad {
  readonly what: string
  readonly script: string
  readonly told: RegExp
}

const left = (problem: string) => new RegExp(`^What the bundle left cannot be used: ${problem}.*\\.$`)
const writes = (file: string) => `> "$BUNDLE_OUTPUT/${file}"`

const bad: readonly Bad[] = [
  { what: 'prints a gigabyte', script: 'head -c 1000000000 /dev/zero', told: /printed more than its limit/ },
  { what: 'prints one line without an end', script: `yes ${mark} | tr -d '\\n' >&2`, told: /printed more than/ },
  { what: 'never ends', script: `sleep ${mark}`, told: /took longer than its time limit/ },
  {
    what: 'does not hear that it should end',
    script: `trap '' TERM INT HUP\nwhile :; do sleep ${mark} || :; done`,
    told: /took longer than its time limit/,
  },
  { what: 'forks without an end', script: `while :; do sleep ${mark} & done`, told: /more processes than its limit/ },
  {
    what: 'leaves credentials that are no JSON',
    script: `echo "user=${canary}" ${writes('credentials.json')}`,
    told: left('credentials.json is not a JSON object'),
  },
  {
    what: 'leaves credentials of 50 MB',
    script: `head -c 50000000 /dev/zero | tr '\\0' 1 ${writes('credentials.json')}`,
    told: left('credentials.json has 50000000 bytes, and may have 1048576; write less'),
  },
  {
    what: 'leaves credentials that are nested without an end',
    script: `head -c 900000 /dev/zero | tr '\\0' '[' ${writes('credentials.json')}`,
    told: left('credentials.json is not a JSON object, is nested too deep'),
  },
  {
    what: "leaves a link to the machine's users",
    script: 'ln -s /etc/passwd "$BUNDLE_OUTPUT/credentials.json"',
    told: left('credentials.json is a symbolic link, and links are not followed; write a file'),
  },
  {
    what: 'leaves a pipe that nobody writes into',
    script: 'mkfifo "$BUNDLE_OUTPUT/credentials.json"',
    told: left('credentials.json is not a plain file of its own; write one'),
  },
  {
    what: 'leaves pipes, folders and links in the place of everything else',
    script:
      'cd "$BUNDLE_OUTPUT"; rm -f termination-log; mkfifo message progress; mkdir state.json; ln -s /dev/zero dashboard_url',
    told: left('dashboard_url is a symbolic link'),
  },
  {
    what: 'leaves a state over the limit',
    script: `(printf '{"k":"'; head -c 2000000 /dev/zero | tr '\\0' x; printf '"}') ${writes('state.json')}`,
    told: left('state.json has 2000008 bytes, and may have 1048576; write less'),
  },
  {
    what: 'tells the secrets that it was given',
    script: `echo ${canary}; echo "I cannot do it with ${canary}" ${writes('message')}; exit 3`,
    told: /^I cannot do it with \[redacted\]$/,
  },
  { what: 'takes its own output away', script: 'rm -rf "$BUNDLE_OUTPUT" "$HOME"; exit 4', told: /exit code 4/ },
  { what: 'kills all that it can', script: 'kill -9 -1; kill -9 0', told: /exit code 137|not known/ },
]

let folder = ''
let broker: BrokerProcess
const log: string[] = []

function idsOf(name: string) {
  const md5 = (text: string) => createHash('md5').update(text).digest('hex')
  return { service_id: md5(`local-${name}`), plan_id: md5(`local-${name}-small`) }
}

const specOf = (name: string) => `version: 1.0
name: ${name}
description: a bundle
bindable: true
async: optional
timeouts: { provision: ${name === 'good' ? '5m' : name === 'bad-2' || name === 'bad-3' ? '1s' : '2m'} }
plans:
  - name: small
    description: the only one
    free: true
    parameters: [{ name: password, type: string, display_type: password, sensitive: true }]
`

function write(name: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(join(folder, 'bundles', name), { recursive: true })
  for (const [file, text] of Object.entries(files))
    writeFileSync(join(folder, 'bundles', name, file), text, { mode: file.endsWith('.sh') ? 0o755 : 0o644 })
}

async function expectNothingLeft(): Promise<void> {
  const root = join(folder, 'run', 'p')
  const runtime = await createProcessRuntime({ folder: root, clock: systemClock, ...bundleUser })
  expect(await runtime.list()).toEqual([])
  expect(leftoversIn(root)).toEqual([])
  expect(survivors(mark)).toBe(0)
  // A supervisor has told the end before it is gone itself.
  await vi.waitFor(() => expect(survivors(join(root, 'o-'))).toBe(0), { timeout: 60_000 })
}

async function expectGoodWorks(id: string): Promise<void> {
  const { life } = broker
  expect(await life.provision(id, idsOf('good'))).toMatchObject({ state: 'succeeded' })
  expect(await life.bind(id, 'b', idsOf('good'))).toMatchObject({ state: 'succeeded' })
  expect(await life.credentials(id, 'b')).toEqual({ user: 'me' })
  expect(await life.unbind(id, 'b', idsOf('good'))).toMatchObject({ state: 'succeeded' })
  expect(await life.deprovision(id, idsOf('good'))).toMatchObject({ state: 'succeeded' })
}

describe.skipIf(process.platform !== 'linux')('a bundle that', () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'purser-bad-'))
    chmodSync(folder, 0o755)
    write('good', {
      'bundle.yml': specOf('good'),
      'entrypoint.sh': `#!/bin/sh\necho '{"user":"me"}' > "$BUNDLE_OUTPUT/credentials.json"\n`,
    })
    for (const [index, { script }] of bad.entries())
      write(`bad-${index}`, {
        'bundle.yml': specOf(`bad-${index}`),
        'entrypoint.sh': `#!/bin/sh\n[ "$1" = provision ] || exit 0\n${script}\n`,
      })
    write('no-entrypoint', { 'bundle.yml': specOf('no-entrypoint') })
    write('no-interpreter', { 'bundle.yml': specOf('no-interpreter'), 'entrypoint.sh': '#!/no/such/shell\n' })
    write('daemon', {
      'bundle.yml': specOf('daemon'),
      'entrypoint.sh': `#!/bin/sh\nsetsid sh -c 'trap "" TERM; sleep ${mark}' &\nexit 0\n`,
    })
    write('broken', { 'bundle.yml': 'version: 1.0\nname: [broken\n', 'entrypoint.sh': '#!/bin/sh\n' })
    const config = `registries: [{ name: local, type: directory, path: bundles, white_list: [".*"] }]
bundles: { runtime: process, folder: run, output: 1MB, processes: 60 }
`
    writeFileSync(join(folder, 'purser.yaml'), served + config, { mode: 0o600 })
    broker = await serve({ bin: built.bin, folder, log })
    await endOfSync(broker.admin)
  })
  afterAll(async () => {
    await broker?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('has a spec that cannot be read is told of, and keeps nobody else out', async () => {
    const { body } = await broker.admin.registries()
    expect(body.registries).toMatchObject([
      {
        name: 'local',
        problems: [
          expect.stringMatching(/^broken: .*:3: error: not valid YAML: .*; correct the text there/),
          expect.stringMatching(/^no-entrypoint: entrypoint\.sh: error: is missing; add it/),
        ],
      },
    ])
    expect(body.services).toHaveLength(bad.length + 3)
    await expectGoodWorks('first')
  })

  it.each(bad.map(({ what, told }, index) => ({ what, told, name: `bad-${index}` })))(
    '$what fails clearly',
    async ({ told, name }) => {
      const { life, admin } = broker
      const ended = await life.provision(name, idsOf(name), { password: canary })
      expect(ended).toMatchObject({ status: 202, state: 'failed', description: expect.stringMatching(told) })
      const printed = await admin.operationLog(ended.operation ?? '')
      expect(printed.status).toBe(200)
      expect(printed.text.length).toBeLessThan(500_000)
      expect(printed.text).not.toContain(canary)
      await expectNothingLeft()
      expect(await life.deprovision(name, idsOf(name))).toMatchObject({ state: 'succeeded' })
      expect(await life.provision(`after-${name}`, idsOf('good'))).toMatchObject({ state: 'succeeded' })
      await expectNothingLeft()
    },
  )

  it('has no interpreter fails clearly', async () => {
    const [name, told] = ['no-interpreter', /exit code 127/]
    const { life } = broker
    const { state, description } = await life.provision(name, idsOf(name))
    expect({ state, description }).toEqual({ state: 'failed', description: expect.stringMatching(told) })
    await life.deprovision(name, idsOf(name))
    await expectNothingLeft()
  })

  it('leaves something behind that runs on does not', async () => {
    expect(await broker.life.provision('daemon', idsOf('daemon'))).toMatchObject({ state: 'succeeded' })
    await expectNothingLeft()
    expect(await broker.life.deprovision('daemon', idsOf('daemon'))).toMatchObject({ state: 'succeeded' })
  })

  it('does any of it at the same time as all the others keeps no good one from working', async () => {
    const { life } = broker
    const all = bad.map((_, index) => `bad-${index}`)
    const ends = await Promise.all(all.map(name => life.provision(`all-${name}`, idsOf(name), { password: canary })))
    expect(ends.map(({ state }) => state)).toEqual(all.map(() => 'failed'))
    await Promise.all(all.map(name => life.deprovision(`all-${name}`, idsOf(name))))
    await expectGoodWorks('last')
    await expectNothingLeft()
  })

  it('knew a secret has not told it to anybody', async () => {
    expect(existsSync(join(folder, 'ledger.db'))).toBe(true)
    const told = [...log, ...broker.life.answers].join('\n')
    for (const secret of [canary, user.password]) expect(told).not.toContain(secret)
  })
})
