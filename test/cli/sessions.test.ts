import { expect, it } from 'vitest'
import { startCannedBroker } from './canned-broker.ts'
import { makeFolder, runCli } from './test-io.ts'

const first = {
  id: 'one',
  principal: 'ops',
  scheme: 'basic',
  begun_at: '2026-01-01T00:00:00.000Z',
  expires_at: '2026-01-01T00:30:00.000Z',
}

async function run(args: readonly string[], answers: Parameters<typeof startCannedBroker>[0]) {
  const broker = await startCannedBroker(answers)
  const result = await runCli(args, { cwd: await makeFolder(), env: { PURSER_URL: broker.url } })
  return { ...result, requests: broker.requests }
}

it('purser sessions list tells who is signed in, page by page', async () => {
  const list = await run(['sessions', 'list'], {
    'GET /admin/sessions': [
      { status: 200, body: { items: [first], next: 'one' } },
      { status: 200, body: { items: [{ ...first, id: 'two', address: '192.0.2.1' }] } },
    ],
  })
  expect(list.out).toMatch(/^SESSION +PRINCIPAL +SCHEME +ADDRESS +BEGUN +EXPIRES\none +ops +basic +- /)
  expect(list.out).toMatch(/\ntwo +ops +basic +192\.0\.2\.1 /)
  expect(list.requests.map(({ query }) => query.get('cursor'))).toEqual([null, 'one'])
  const none = await run(['sessions', 'list'], { 'GET /admin/sessions': { status: 200, body: { items: [] } } })
  expect(none.out).toBe('Nobody is signed in.\n')
})

it('purser sessions end ends one, or all of a principal, and nothing where that is not clear', async () => {
  const one = await run(['sessions', 'end', 'one'], {
    'DELETE /admin/sessions/one': { status: 200, body: { ended: 1 } },
  })
  expect([one.code, one.out]).toEqual([0, expect.stringMatching(/^ended +1\n$/)])
  const all = await run(['sessions', 'end', '--principal', 'ops'], {
    'DELETE /admin/sessions': { status: 200, body: { ended: 2 } },
  })
  expect([all.code, all.requests[0]?.query.get('principal')]).toEqual([0, 'ops'])
  for (const args of [[], ['one', '--principal', 'ops']]) {
    const unclear = await run(['sessions', 'end', ...args], {})
    expect([unclear.code, unclear.requests]).toEqual([2, []])
  }
  const unknown = await run(['sessions', 'end', 'none'], {
    'DELETE /admin/sessions/none': {
      status: 404,
      body: { error: 'UnknownSession', detail: 'There is no such session.' },
    },
  })
  expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('could not end none')])
})
