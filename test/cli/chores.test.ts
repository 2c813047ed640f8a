import { describe, expect, it, onTestFinished } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { listen } from '../../src/http/node.ts'
import { startTestBroker } from '../../src/testing/test-broker.ts'
import { serviceOf } from '../engine/world.ts'
import { startCannedBroker } from './canned-broker.ts'
import { createTestIo, makeFolder, runCli } from './test-io.ts'

const purge = {
  name: 'purge',
  pattern: '30 * * * *',
  time_zone: 'UTC',
  next_at: '2026-01-01T00:30:00.000Z',
  running: false,
}
const started = { status: 202, body: { name: 'purge', started: true, due_at: '2026-01-01T00:10:00.000Z' } }
const ended = {
  ...purge,
  due_at: '2026-01-01T00:10:00.000Z',
  started_at: '2026-01-01T00:10:00.100Z',
  finished_at: '2026-01-01T00:10:02.000Z',
  owner: 'host/1/x',
  ok: true,
  message: 'removed 3 tombstones',
}

function list(...chores: readonly object[]) {
  return { status: 200, body: { chores } }
}

async function run(args: readonly string[], answers: Parameters<typeof startCannedBroker>[0]) {
  const broker = await startCannedBroker(answers)
  const result = await runCli(['chores', ...args], { cwd: await makeFolder(), env: { PURSER_URL: broker.url } })
  return { ...result, calls: broker.calls }
}

describe('purser chores list', () => {
  it('shows a line for each chore', async () => {
    const chores = [
      { name: 'observe', running: false },
      purge,
      { ...ended, name: 'a', time_zone: 'Europe/Berlin', running: true },
      { ...ended, name: 'b', ok: false, message: 'no\u001b[31m room' },
      { ...ended, name: 'c', finished_at: undefined, ok: undefined },
    ]
    const { code, out, err } = await run(['list'], { 'GET /admin/chores': list(...chores) })
    expect(out).toBe(
      `CHORE    SCHEDULE                    NEXT RUN                  LATEST RUN                RESULT
observe  off                         -                         -                         -
purge    30 * * * *                  2026-01-01T00:30:00.000Z  -                         -
a        30 * * * * (Europe/Berlin)  2026-01-01T00:30:00.000Z  2026-01-01T00:10:00.100Z  running
b        30 * * * *                  2026-01-01T00:30:00.000Z  2026-01-01T00:10:00.100Z  failed: no [31m room
c        30 * * * *                  2026-01-01T00:30:00.000Z  2026-01-01T00:10:00.100Z  interrupted, to be taken over
`,
    )
    expect({ code, err }).toEqual({ code: 0, err: '' })
  })

  it('prints what came for --output json', async () => {
    const { out } = await run(['list', '--output', 'json'], { 'GET /admin/chores': list(ended) })
    expect(JSON.parse(out)).toEqual({ chores: [ended] })
  })

  it('says which role is missing', async () => {
    const body = { error: 'Forbidden', description: 'This needs the role viewer or operator.' }
    const { code, err } = await run(['list'], { 'GET /admin/chores': { status: 403, body } })
    expect(err).toContain('why: the broker answered 403 Forbidden: This needs the role viewer or operator.\n')
    expect(err).toContain('next: Use the credentials of a user that has the role')
    expect(code).toBe(4)
  })

  it('refuses an answer that is not a list', async () => {
    expect(await run(['list'], { 'GET /admin/chores': { status: 200, text: '<html>' } })).toMatchObject({ code: 1 })
  })
})

describe('purser chores run', () => {
  it('waits until the run has ended and prints what it did', async () => {
    const before = { ...ended, due_at: '2026-01-01T00:00:00.000Z', message: 'an earlier one' }
    const running = { ...ended, running: true, finished_at: undefined, ok: undefined, message: undefined }
    const { code, out, err, calls } = await run(['run', 'purge'], {
      'POST /admin/chores/purge/runs': started,
      'GET /admin/chores': [list(before), list(running), list(ended)],
    })
    expect({ code, out, err }).toEqual({ code: 0, out: 'removed 3 tombstones\n', err: '' })
    expect(calls).toEqual(['POST /admin/chores/purge/runs', ...Array(3).fill('GET /admin/chores')])
  })

  it('is exit code 1 where it failed', async () => {
    const { code, out, err } = await run(['run', 'purge'], {
      'POST /admin/chores/purge/runs': started,
      'GET /admin/chores': list({ ...ended, ok: false, message: 'the store does not answer' }),
    })
    expect(err).toContain('error: the chore purge failed\n  why: the store does not answer\n')
    expect({ code, out }).toEqual({ code: 1, out: '' })
  })

  it.each([
    [409, 'ChoreRunning', 'next: Wait until it has ended (purser chores list shows it), then repeat the command.'],
    [404, 'UnknownChore', 'next: purser chores list shows the chores there are.'],
  ])('says what to do about %i', async (status, error, next) => {
    const refused = { status, body: { error, description: 'No.' } }
    const { code, err } = await run(['run', 'purge'], { 'POST /admin/chores/purge/runs': refused })
    expect(err).toContain(next)
    expect(code).toBe(1)
  })

  it('Ctrl-C ends the waiting only', async () => {
    const broker = await startCannedBroker({
      'POST /admin/chores/purge/runs': started,
      'GET /admin/chores': list({ ...purge, running: true }),
    })
    const io = createTestIo({ env: { PURSER_URL: broker.url } })
    const running = main(['chores', 'run', 'purge'], io)
    while (broker.calls.length < 3) await new Promise(resolve => setImmediate(resolve))
    io.interrupt()
    expect(await running).toBe(130)
    expect(io.err()).toContain(
      'why: interrupted; the broker goes on with it\n next: purser chores list shows how it ends.',
    )
  })

  it('works against a broker', async () => {
    const broker = await startTestBroker({ services: [serviceOf({})] })
    const server = await listen({ app: broker.handle, host: '127.0.0.1', port: 0 })
    onTestFinished(async () => {
      await server.close(0)
      await broker.stop()
    })
    await broker.clock.advance(1_000)
    const env = { PURSER_URL: server.url }
    const done = await runCli(['chores', 'run', 'clean-up-bindings-failed', '--output', 'json'], { env })
    expect(JSON.parse(done.out)).toMatchObject({ name: 'clean-up-bindings-failed', ok: true, message: 'nothing to do' })
    expect((await runCli(['chores', 'list'], { env })).out).toMatch(
      /^clean-up-bindings-failed +off +- +\S+ +nothing to do$/m,
    )
    const unknown = await runCli(['chores', 'run', 'dishes'], { env })
    expect(unknown.err).toContain('There is no chore "dishes". There are observe, purge, clean-up-instances-all')
  })
})
