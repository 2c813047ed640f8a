import { describe, expect, it } from 'vitest'
import { startCannedBroker } from './canned-broker.ts'
import { makeFolder, runCli } from './test-io.ts'

const [asked, later] = ['2026-01-01T00:10:00.000Z', '2026-01-01T00:20:00.000Z']
const local = {
  name: 'local',
  type: 'directory',
  checked_at: asked,
  last_answer_at: asked,
  partial: false,
  failures: 0,
  next_at: later,
}
const hub = {
  name: 'dh',
  type: 'dockerhub',
  checked_at: asked,
  partial: false,
  failures: 2,
  silent_since: asked,
  last_problem: 'hub.docker.com does not answer',
  next_at: later,
}
const services = [
  {
    id: '1',
    name: 'local-db',
    registry: 'local',
    revision: 'r2',
    bundle_version: '1.1.0',
    tag: '',
    instances: [
      { revision: 'r2', bundle_version: '1.1.0', count: 2 },
      { revision: 'r1', bundle_version: '1.0.0', count: 1 },
    ],
  },
  { id: '2', name: 'dh-a', registry: 'dh', revision: 'r3', tag: 'latest', retired_at: asked, instances: [] },
]
const report = {
  added: [{ service_id: '1', full_name: 'local-db', registry: 'local', tag: '', bundle_version: '1.1.0' }],
  updated: [],
  retired: [{ service_id: '2', full_name: 'dh-a', registry: 'dh', tag: 'latest', reason: 'gone' }],
  returned: [],
  deleted: [],
  collisions: [
    {
      service_id: '1',
      full_name: 'local-db',
      offered: { registry: 'local', name: 'db' },
      left_out: { registry: 'local', name: 'd.b' },
    },
  ],
  problems: [{ registry: 'local', name: 'x', problem: 'x: it has\u001b[31m no plans' }],
}
const run = {
  name: 'sync',
  running: false,
  due_at: asked,
  started_at: asked,
  finished_at: later,
  ok: true,
  message: '1 added',
}

function answers(body: object, chore: object = run) {
  return {
    'POST /admin/registries/sync': { status: 202, body: { name: 'sync', started: true, due_at: asked } },
    'GET /admin/chores': { status: 200, body: { chores: [chore] } },
    'GET /admin/registries': { status: 200, body },
  }
}

async function purser(args: readonly string[], canned: Parameters<typeof startCannedBroker>[0]) {
  const broker = await startCannedBroker(canned)
  return runCli(args, { cwd: await makeFolder(), env: { PURSER_URL: broker.url } })
}

describe('purser registries list', () => {
  it('shows how registries answer, and who uses what', async () => {
    const partial = { ...local, name: 'part', partial: true, last_problem: 'x: no plans' }
    const body = {
      registries: [local, hub, partial, { name: 'new', type: 'oci' }, { name: 'old', failures: 3 }],
      services,
    }
    const { code, out } = await purser(['registries', 'list'], answers(body))
    expect(
      out,
    ).toBe(`REGISTRY  TYPE       STATE                                           LATEST ANSWER             NEXT RUN
local     directory  complete                                        ${asked}  ${later}
dh        dockerhub  failed 2 times: hub.docker.com does not answer  -                         ${later}
part      directory  partial: x: no plans                            ${asked}  ${later}
new       oci        not asked yet                                   -                         -
old       -          not configured any more                         -                         -

SERVICE   REGISTRY  VERSION  STATE                             INSTANCES
local-db  local     1.1.0    offered                           3 (1 of an older revision)
dh-a      dh        latest   retired ${asked}  0
`)
    expect(code).toBe(0)
  })

  it('shows every problem, whatever registry has it', async () => {
    const registries = [
      { ...local, last_problem: 'x: no plans (and 1 more)', problems: ['x: no plans', 'y: no\u001b[31m name'] },
      { ...hub, name: 'sound', problems: undefined },
    ]
    const { out } = await purser(['registries', 'list'], answers({ registries, services: [] }))
    expect(out).toMatch(/\n\nREGISTRY {2}PROBLEM\nlocal {5}x: no plans\nlocal {5}y: no \[31m name\n$/)
  })

  it('shows every warning', async () => {
    const registries = [{ ...local, warnings: ['db: its bundle_version is\u001b[31m still 1.0.0'] }]
    const { out } = await purser(['registries', 'list'], answers({ registries, services: [] }))
    expect(out).toMatch(
      /^REGISTRY.*\nlocal +directory +complete .*\n\nREGISTRY {2}WARNING\nlocal {5}db: its .*1.0.0\n$/,
    )
    const { err } = await purser(['registries', 'sync'], answers({ registries }))
    expect(err).toBe('warning: local: db: its bundle_version is [31m still 1.0.0\n')
  })

  it('prints what came for --output json, and says where there are none', async () => {
    const body = { registries: [local], services }
    const { out } = await purser(['registries', 'list', '--output', 'json'], answers(body))
    expect(JSON.parse(out)).toEqual(body)
    expect((await purser(['registries', 'list'], answers({ registries: [] }))).out).toBe(
      'The broker has no registries.\n',
    )
  })
})

describe('purser registries sync', () => {
  it('waits, and prints what has changed', async () => {
    const last_change = { at: asked, report }
    const { code, out, err } = await purser(['registries', 'sync'], answers({ registries: [local], last_change }))
    expect(out).toBe(`added    local-db  1.1.0   from local
retired  dh-a      latest  from dh (gone)
`)
    expect({ code, err }).toEqual({ code: 0, err: '' })
  })

  it('says that nothing has changed, and what is still wrong', async () => {
    const last_change = { at: '2025-12-31T00:00:00.000Z', report }
    const registries = [{ ...local, partial: true, problems: ['x: it has\u001b[31m no plans'] }]
    expect(await purser(['registries', 'sync'], answers({ registries, last_change }))).toEqual({
      code: 0,
      out: 'Nothing has changed.\n',
      err: 'problem: local: x: it has [31m no plans\n',
    })
  })

  it('is exit code 1 where a registry failed', async () => {
    const { code, out, err } = await purser(
      ['registries', 'sync', '--output', 'json'],
      answers({ registries: [local, hub, { name: 'old', failures: 3 }] }),
    )
    expect(JSON.parse(out)).toMatchObject({ error: 'no answer from dh', registries: [{}, {}, {}] })
    expect(err).toContain('error: no answer from dh\n  why: hub.docker.com does not answer\n')
    expect(code).toBe(1)
  })

  it('is exit code 1 where the run failed, or could not begin', async () => {
    const failed = { ...run, ok: false, message: 'the store does not answer' }
    expect(await purser(['registries', 'sync'], answers({ registries: [local] }, failed))).toMatchObject({
      code: 1,
      err: expect.stringContaining('error: the sync failed\n  why: the store does not answer\n'),
    })
    const refused = { status: 403, body: { error: 'Forbidden', description: 'It needs a role.' } }
    expect(await purser(['registries', 'sync'], { 'POST /admin/registries/sync': refused })).toMatchObject({
      code: 4,
      err: expect.stringContaining('could not ask the registries'),
    })
  })
})

describe('purser registries sync, while one is running', () => {
  it('waits for it, and then begins one of its own', async () => {
    const running = { status: 409, body: { error: 'ChoreRunning', description: 'It runs.' } }
    const canned = answers({ registries: [local] })
    const { code, out, err } = await purser(['registries', 'sync'], {
      ...canned,
      'POST /admin/registries/sync': [running, canned['POST /admin/registries/sync']],
    })
    expect({ code, out, err }).toEqual({
      code: 0,
      out: 'Nothing has changed.\n',
      err: 'waiting for a sync that is running already\n',
    })
  })
})

describe('purser operations log', () => {
  const runs = [
    { name: 'collect 1', verdict: 'try-again', message: 'later', log: 'one\n\ttwo\u001b[31m\n' },
    { name: 'collect 2', verdict: 'failed', exit: 3, log: 'three' },
  ]

  it('prints what each run printed', async () => {
    const { code, out } = await purser(['operations', 'log', 'op-1'], {
      'GET /admin/operations/op-1/log': { status: 200, body: { operation: 'op-1', runs } },
    })
    expect(out).toBe(
      '--- collect 1: try-again: later\none\n        two[31m\n--- collect 2: failed, exit code 3\nthree\n',
    )
    expect(code).toBe(0)
  })

  it('says that there is none', async () => {
    const canned = { 'GET /admin/operations/op-1/log': { status: 200, body: { operation: 'op-1', runs: [] } } }
    expect(await purser(['operations', 'log', 'op-1'], canned)).toEqual({
      code: 0,
      out: '',
      err: 'No run of a bundle has ended in this operation: there is no log.\n',
    })
  })

  it('says what to do about an operation that is not known', async () => {
    const body = { error: 'UnknownOperation', description: 'There is no operation "x".' }
    expect(
      await purser(['operations', 'log', 'x'], { 'GET /admin/operations/x/log': { status: 404, body } }),
    ).toMatchObject({ code: 1, err: expect.stringContaining('next: Check the id') })
    expect(await purser(['operations', 'log', '..'], {})).toMatchObject({ code: 2 })
  })
})
