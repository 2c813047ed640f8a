import { describe, expect, it } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { startCannedBroker } from './canned-broker.ts'
import { createTestIo, makeFolder, runCli } from './test-io.ts'

const moved = { instance_id: 'i', service_id: 's', plan_id: 'p', revision: 'new', moved_from: 'old' }
const abandoned = {
  instance_id: 'i',
  service_id: 's',
  plan_id: 'p',
  phase: 'deleted',
  operation: 'o2',
  ended: { operation: 'o1', action: 'provision', state: 'superseded' },
  remains: {
    revision: 'r',
    dashboard_url: 'https://dash.example/i',
    state_keys: ['bucket', 'us\u001b[31mer'],
    sandboxes: ['o-o1-1'],
    bindings: [{ id: 'b', state_keys: ['role'], sandboxes: [] }],
    quiet_until: '2026-01-01T00:01:00.000Z',
  },
}

async function run(args: readonly string[], answers: Parameters<typeof startCannedBroker>[0]) {
  const broker = await startCannedBroker(answers)
  const result = await runCli(['instances', ...args], { cwd: await makeFolder(), env: { PURSER_URL: broker.url } })
  return { ...result, calls: broker.calls, requests: broker.requests }
}

describe('purser instances move', () => {
  it('sends the revision and the reason, and prints where it is now', async () => {
    const args = ['move', 'i', '--revision', 'new', '--reason', 'a fault']
    const { code, out, requests } = await run(args, { 'POST /admin/instances/i/move': { status: 200, body: moved } })
    expect(requests[0]?.body).toEqual({ revision: 'new', reason: 'a fault' })
    expect(out).toBe('instance_id  i\nservice_id   s\nplan_id      p\nrevision     new\nmoved_from   old\n')
    expect(code).toBe(0)
  })

  it('is wrong usage without a reason', async () => {
    const { code, err, calls } = await run(['move', 'i'], {})
    expect(err).toContain("required option '--reason <text>'")
    expect({ code, calls }).toEqual({ code: 2, calls: [] })
  })

  it('says why the broker refused', async () => {
    const body = { status: 409, error: 'VerbRefused', detail: 'Revision "r" has no plan p.' }
    const { code, err } = await run(['move', 'i', '--reason', 'x'], {
      'POST /admin/instances/i/move': { status: 409, body },
    })
    expect(err).toContain('why: the broker answered 409 VerbRefused: Revision "r" has no plan p.\n')
    expect(code).toBe(1)
  })
})

describe('purser instances observe', () => {
  it('prints the observation that was begun', async () => {
    const body = { id: 'o1', action: 'observe', state: 'queued', instance_id: 'i' }
    const { code, out, requests } = await run(['observe', 'i', '--reason', 'a look'], {
      'POST /admin/instances/i/observe': { status: 202, body },
    })
    expect(requests[0]?.body).toEqual({ reason: 'a look' })
    expect(out).toBe('operation    o1\naction       observe\nstate        queued\ninstance_id  i\n')
    expect(code).toBe(0)
  })
})

describe('purser instances abandon', () => {
  const answers = { 'POST /admin/instances/i/abandon': { status: 200, body: abandoned } }

  it('is called purge, too; delete --force takes the bindings along', async () => {
    const purged = await run(['purge', 'i', '--reason', 'gone', '--yes'], answers)
    expect(purged.requests[0]?.body).toEqual({ reason: 'gone' })
    const deleted = await run(['delete', 'i', '--force', '--reason', 'gone', '--yes'], answers)
    expect(deleted.requests[0]?.body).toEqual({ bindings: true, reason: 'gone' })
    const careful = await run(['delete', 'i', '--reason', 'gone', '--yes'], answers)
    expect(careful.err).toContain("required option '--force'")
    expect(careful).toMatchObject({ code: 2, calls: [] })
  })

  it('lists what is left', async () => {
    const { code, out, requests } = await run(['abandon', 'i', '--bindings', '--reason', 'gone', '--yes'], answers)
    expect(requests[0]?.body).toEqual({ bindings: true, reason: 'gone' })
    expect(out).toBe(`i counts as deleted, with 1 binding.
Its provision o1 has ended: superseded.
Remove by hand what is left of:
  dashboard: https://dash.example/i
  what its state named: bucket, us [31mer
  sandboxes, if they still run: o-o1-1
  binding b: role
  what acted on it: revision r
Nothing is created under this id before 2026-01-01T00:01:00.000Z: a call may still be on its way.
`)
    expect(code).toBe(0)
  })

  it('says so where nothing is known, and prints what came for --output json', async () => {
    const body = { ...abandoned, ended: undefined, remains: { state_keys: [], sandboxes: [], bindings: [] } }
    const some = { 'POST /admin/instances/i/abandon': { status: 200, body } }
    const { out } = await run(['abandon', 'i', '--reason', 'gone', '-y'], some)
    expect(out).toBe('i counts as deleted.\nThe broker knows of nothing that is left.\n')
    const asJson = await run(['abandon', 'i', '--reason', 'gone', '-y', '--output', 'json'], answers)
    expect(JSON.parse(asJson.out)).toEqual(abandoned)
  })

  it('without a terminal and --yes it is exit code 2, and nothing is sent', async () => {
    const { code, err, calls } = await run(['abandon', 'i', '--reason', 'gone'], answers)
    expect(err).toContain('--yes')
    expect({ code, calls }).toEqual({ code: 2, calls: [] })
  })

  it.each([
    ['y\n', 0, 1],
    ['Yes\n', 0, 1],
    ['n\n', 3, 0],
    ['\n', 3, 0],
  ])('on a terminal it asks: %j -> exit code %i', async (typed, expected, sent) => {
    const broker = await startCannedBroker(answers)
    const io = createTestIo({ env: { PURSER_URL: broker.url }, cwd: await makeFolder() })
    io.stdin.isTTY = true
    io.stdin.end(typed)
    expect(await main(['instances', 'abandon', 'i', '--reason', 'gone'], io)).toBe(expected)
    expect(io.err()).toContain('Abandon i? Nothing of it will be removed. [y/N] ')
    expect(broker.calls.length).toBe(sent)
  })
})

describe('purser instances sweep', () => {
  const body = { id: 'o', action: 'sweep', state: 'queued', instance_id: 'i', binding_id: 'b', waiting_for: 'its turn' }

  it('sends the binding and the reason, and prints the operation', async () => {
    const args = ['sweep', 'i', '--binding', 'b', '--reason', 'a role is left']
    const { code, out, requests } = await run(args, { 'POST /admin/instances/i/sweep': { status: 202, body } })
    expect(requests[0]?.body).toEqual({ binding_id: 'b', reason: 'a role is left' })
    expect(out).toMatch(/^operation +o\naction +sweep\nstate +queued\ninstance_id +i\nbinding_id +b\n/)
    expect(code).toBe(0)
  })

  it('says why the broker refused', async () => {
    const refused = { status: 409, error: 'VerbRefused', detail: 'The instance is not deleted.' }
    const { code, err } = await run(['sweep', 'i', '--reason', 'x'], {
      'POST /admin/instances/i/sweep': { status: 409, body: refused },
    })
    expect(err).toContain('could not sweep i')
    expect(err).toContain('The instance is not deleted.')
    expect(code).toBe(1)
  })
})
