import { describe, expect, it } from 'vitest'
import { startCannedBroker } from './canned-broker.ts'
import { makeFolder, runCli } from './test-io.ts'

const at = '2026-01-01T00:00:00.000Z'
const operation = {
  id: 'o1',
  instance_id: 'i',
  service_id: 's',
  action: 'provision',
  state: 'queued',
  attempt: 2,
  not_before: at,
  deadline_at: at,
  accepted_at: at,
  description: 'the provision failed 2 times, \u001b[31mtrying again',
}

async function run(args: readonly string[], answers: Parameters<typeof startCannedBroker>[0]) {
  const broker = await startCannedBroker(answers)
  const result = await runCli(args, { cwd: await makeFolder(), env: { PURSER_URL: broker.url } })
  return { ...result, requests: broker.requests, calls: broker.calls }
}

describe('purser operations list', () => {
  it('sends the filters and shows a line for each', async () => {
    const body = {
      items: [operation, { ...operation, id: 'o2', action: 'bind', binding_id: 'b', description: undefined }],
    }
    const args = ['operations', 'list', '--state', 'queued', '--instance', 'i', '--binding', 'b', '--order', 'oldest']
    const { code, out, requests } = await run(args, { 'GET /admin/operations': { status: 200, body } })
    expect(Object.fromEntries(requests[0]?.query ?? [])).toEqual({
      state: 'queued',
      instance_id: 'i',
      binding_id: 'b',
      order: 'oldest',
      limit: '50',
    })
    expect(out).toBe(
      `OPERATION  ACTION     STATE   INSTANCE / BINDING  ACCEPTED                  DESCRIPTION
o1         provision  queued  i                   2026-01-01T00:00:00.000Z  the provision failed 2 times, [31mtrying again
o2         bind       queued  i / b               2026-01-01T00:00:00.000Z
`,
    )
    expect(code).toBe(0)
  })

  it('calls a held one held, as its filter does; JSON is what the broker says', async () => {
    const held = { ...operation, hold: { since: at }, steps: [], allowed_actions: {} }
    const answers = {
      'GET /admin/operations': { status: 200, body: { items: [held] } },
      'GET /admin/operations/o1': { status: 200, body: held },
    }
    expect((await run(['operations', 'list', '--state', 'held'], answers)).out).toMatch(/provision +held +i /)
    expect((await run(['operations', 'show', 'o1'], answers)).out).toMatch(/^state +held$/m)
    const { out } = await run(['operations', 'show', 'o1', '--output', 'json'], answers)
    expect(JSON.parse(out)).toMatchObject({ state: 'queued' })
  })

  it('reads page after page until there are as many as --limit asks for, and says that there are more', async () => {
    const pages = ['a', 'b', 'c'].map(next => ({ status: 200, body: { items: Array(200).fill(operation), next } }))
    const args = ['operations', 'list', '--limit', '450']
    const { err, out, requests } = await run(args, { 'GET /admin/operations': pages })
    expect(requests.map(({ query }) => [query.get('limit'), query.get('cursor')])).toEqual([
      ['200', null],
      ['200', 'a'],
      ['50', 'b'],
    ])
    expect(out.split('\n').length).toBeGreaterThan(450)
    expect(err).toContain('There are more operations')
  })

  it('prints what came for --output json, and says so where there is none', async () => {
    const answers = { 'GET /admin/operations': { status: 200, body: { items: [operation] } } }
    expect(JSON.parse((await run(['operations', 'list', '--output', 'json'], answers)).out)).toEqual({
      items: [operation],
    })
    const none = await run(['operations', 'list'], { 'GET /admin/operations': { status: 200, body: { items: [] } } })
    expect(none.out).toBe('There are no such operations.\n')
    const wrong = await run(['operations', 'list', '--limit', '0'], answers)
    expect({ code: wrong.code, calls: wrong.calls }).toEqual({ code: 2, calls: [] })
  })
})

it('purser operations show prints its fields, its steps and what may be done', async () => {
  const body = {
    ...operation,
    error: { message: 'no' },
    waiting_for: 'the next attempt',
    steps: [{ name: 'create', state: 'done', attempts: 1, started_at: at }],
    allowed_actions: { retry: { allowed: false, reason: 'It has not ended.' }, fail: { allowed: true } },
  }
  const { out } = await run(['operations', 'show', 'o1'], { 'GET /admin/operations/o1': { status: 200, body } })
  expect(out).toContain('waiting_for    the next attempt\n')
  expect(out).toContain('error.message  no\n')
  expect(out).toContain('STEP    STATE  ATTEMPTS  SINCE                     ERROR\ncreate  done   1         2026')
  expect(out).toContain('VERB   ALLOWED  WHY NOT\nretry  no       It has not ended.\nfail   yes\n')
})

describe('verbs', () => {
  it.each([
    [['retry', 'o1'], {}],
    [['retry', 'o1', '--reason', 'why'], { reason: 'why' }],
    [['run-now', 'o1'], {}],
    [['hold', 'o1', '--reason', 'why'], { reason: 'why' }],
    [['release', 'o1'], {}],
    [['cancel', 'o1', '--yes', '--reason', 'why'], { reason: 'why' }],
    [['fail', 'o1', '-y', '--message', 'No.', '--reason', 'why'], { message: 'No.', reason: 'why' }],
  ])('purser operations %j', async (args, sent) => {
    const body = { ...operation, id: 'o2', retry_of: 'o1' }
    const path = `POST /admin/operations/o1/${args[0]}`
    const { code, out, requests } = await run(['operations', ...args], { [path]: { status: 202, body } })
    expect(requests[0]?.body).toEqual(sent)
    expect(out).toBe('operation    o2\naction       provision\nstate        queued\ninstance_id  i\nretry_of     o1\n')
    expect(code).toBe(0)
  })

  it('say why the broker refused', async () => {
    const body = { status: 409, error: 'VerbRefused', detail: 'It has not ended.' }
    const { code, err, out } = await run(['operations', 'retry', 'o1', '--output', 'json'], {
      'POST /admin/operations/o1/retry': { status: 409, body },
    })
    expect(err).toContain('why: the broker answered 409 VerbRefused: It has not ended.\n')
    expect(JSON.parse(out)).toMatchObject({ error: 'could not retry o1', operation: 'o1' })
    expect(code).toBe(1)
  })

  it.each([
    [['cancel', 'o1']],
    [['fail', 'o1', '--message', 'x', '--reason', 'y']],
    [['fail', 'o1', '--message', 'x', '--yes']],
    [['fail', 'o1', '--reason', 'x', '--yes']],
  ])('purser operations %j is wrong usage, and nothing is sent', async args => {
    const { code, calls } = await run(['operations', ...args], {})
    expect({ code, calls }).toEqual({ code: 2, calls: [] })
  })
})

describe('purser instances', () => {
  const instance = {
    id: 'i',
    platform: 'cf',
    service_id: 's',
    plan_id: 'p',
    phase: 'failed',
    usable: false,
    last_operation_id: 'o1',
    created_at: at,
    updated_at: at,
  }

  it('list shows a line for each', async () => {
    const args = ['instances', 'list', '--phase', 'failed', '--service', 's', '--plan', 'p', '--revision', 'r']
    const { out, requests } = await run(args, { 'GET /admin/instances': { status: 200, body: { items: [instance] } } })
    expect(Object.fromEntries(requests[0]?.query ?? [])).toMatchObject({
      phase: 'failed',
      service_id: 's',
      plan_id: 'p',
      revision_id: 'r',
    })
    expect(out).toBe(
      'INSTANCE  PHASE   PLATFORM  SERVICE  PLAN  CREATED\ni         failed  cf        s        p     2026-01-01T00:00:00.000Z\n',
    )
  })

  it('show prints its fields, its bindings and what may be done', async () => {
    const body = {
      ...instance,
      last_operation: operation,
      bindings: [{ id: 'b', phase: 'ready', created_at: at }],
      allowed_actions: { abandon: { allowed: true } },
    }
    const { out } = await run(['instances', 'show', 'i'], { 'GET /admin/instances/i': { status: 200, body } })
    expect(out).toContain('last_operation     provision o1: queued\n')
    expect(out).toContain('BINDING  PHASE  CREATED                   EXPIRES\nb        ready  2026')
    expect(out).toContain('abandon  yes\n')
    const missing = await run(['instances', 'show', 'i'], { 'GET /admin/instances/i': { status: 404, body: {} } })
    expect(missing.code).toBe(1)
  })
})
