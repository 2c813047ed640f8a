import { createHash } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { type BasicUser, createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import type { Memory } from '../../src/authenticator.ts'
import { keepRefusedSignIns } from '../../src/broker/sign-ins/keep-refused-sign-ins.ts'
import { RefusedSignIns } from '../../src/domain/refused-sign-ins.ts'
import { createSessions } from '../../src/http/sessions.ts'
import { wrapMethods } from '../../src/running/wrap-methods.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import type { HistoryEvent, Store } from '../../src/store.ts'
import { startTestBroker, type TestBrokerOptions } from '../../src/testing/test-broker.ts'
import { createVirtualClock, type VirtualClock } from '../../src/testing/virtual-clock.ts'
import { runCli } from '../cli/test-io.ts'
import { exported, imported } from '../moving/rich-ledger.ts'
import { describeStores, newMemory, realClock } from '../moving/stores.ts'
import { linkAll, verify } from './tampered-ledger.ts'

const minute = 60_000
const ada: BasicUser = { username: 'ada', password: 'canary-of-ada', platform: 'default', roles: ['admin'] }
const bob: BasicUser = { username: 'bob', password: 'canary-of-bob', platform: 'default', roles: ['viewer'] }
const cf: BasicUser = { username: 'cf', password: 'canary-of-cf', platform: 'default', roles: ['platform'] }

interface Started {
  readonly store: Store
  readonly url: string
  readonly stop: () => Promise<void>
  send(method: string, path: string, headers: Readonly<Record<string, string>>): Promise<Response>
  /** Answers the cookie. */
  signIn(user: BasicUser, headers?: Readonly<Record<string, string>>): Promise<string>
}

const basic = (name: string, password = '') => `Basic ${btoa(`${name}:${password}`)}`

async function start(
  store: Store,
  clock: VirtualClock,
  options: Pick<TestBrokerOptions, 'settings' | 'transport'> = {},
): Promise<Started> {
  const authenticator = createBasicAuthenticator([ada, bob, cf], clock)
  const parts = { services: [], store, clock, authenticator, observer: {} }
  const broker = await startTestBroker({ transport: 'socket', ...parts, ...options })
  let stopping: Promise<void> | undefined
  const stop = () => {
    stopping ??= broker.stop()
    return stopping
  }
  onTestFinished(stop)
  const send: Started['send'] = (method, path, headers) =>
    broker.fetch(
      new Request(`${broker.url}${path}`, { method, headers: { 'x-broker-api-version': '2.17', ...headers } }),
    )
  const signIn: Started['signIn'] = async ({ username, password }, headers = {}) => {
    const authorization = basic(username, String(password))
    const { headers: answered } = await send('POST', '/admin/session', { authorization, ...headers })
    return answered.getSetCookie()[0]?.split(';')[0] ?? ''
  }
  return { store, url: broker.url, stop, send, signIn }
}

const tokenOf = (cookie: string) => cookie.slice(cookie.indexOf('=') + 1)
const idOf = (cookie: string) => createHash('sha256').update(tokenOf(cookie)).digest('base64url')
const signInsOf = (store: Store) => store.history('')

/** Who signs in and out, whose sessions an admin ends, and who is refused. Answers the cookies. */
async function visit({ send, signIn, stop }: Started) {
  const requestId = { 'x-broker-api-request-identity': 'r-1' }
  const own = await signIn(ada, requestId)
  const [one, two] = [await signIn(bob), await signIn(bob)]
  const wrong = { authorization: basic('bob', 'canary-of-nobody') }
  for (let times = 0; times < 3; times += 1) expect((await send('POST', '/admin/session', wrong)).status).toBe(401)
  await send('POST', '/admin/session', { authorization: basic('canary-in-the-wrong-field', 'x') })
  await send('POST', '/admin/session', { authorization: basic('cf', cf.password as string) })
  // None of these is a sign-in.
  await send('POST', '/admin/session', { cookie: own })
  await send('POST', '/admin/session', {})
  await send('GET', '/admin/chores', wrong)
  await send('GET', '/v2/catalog', { authorization: basic('cf', 'canary-of-nobody') })
  await send('GET', '/v2/catalog', { authorization: basic('cf', cf.password as string) })
  await send('DELETE', '/admin/session', { cookie: one })
  await send('DELETE', '/admin/sessions?principal=bob', { cookie: own, ...requestId })
  await stop()
  return { own, one, two }
}

const here = { type: 'acted', instanceId: '', address: '127.0.0.1' }

describeStores('sign-ins stand in the history', newStore => {
  it('who begins and ends which session, and who was refused how often, in a chain that verifies and moves', async () => {
    const store = await newStore()
    const { own, one, two } = await visit(await start(store, realClock))
    const lines = await signInsOf(store)
    const sessionOf = (cookie: string) => ({ session: idOf(cookie), scheme: 'basic' })
    const begun = { ...here, verb: 'sign-in', before: {} }
    const ended = { ...here, verb: 'end-session', principal: 'bob', after: {} }
    const refused = { ...here, verb: 'refuse-sign-in', before: {} }
    const wrong = 'wrong username or password'
    expect(lines).toMatchObject([
      { ...begun, by: 'ada', principal: 'ada', requestId: 'r-1', after: sessionOf(own) },
      { ...begun, by: 'bob', principal: 'bob', after: sessionOf(one) },
      { ...begun, by: 'bob', principal: 'bob', after: sessionOf(two) },
      { ...ended, by: 'bob', before: sessionOf(one) },
      { ...ended, by: 'ada', requestId: 'r-1', before: sessionOf(two) },
      { ...refused, principal: 'bob', message: `${wrong} (3 times)`, after: { refused: 3, scheme: 'basic' } },
      { ...refused, message: wrong, after: { refused: 1, scheme: 'basic' } },
      { ...refused, principal: 'cf', message: expect.stringContaining('needs the role viewer'), after: { refused: 1 } },
    ])
    expect(lines.filter(({ verb }) => verb === 'refuse-sign-in').some(line => 'by' in line && line.by)).toBe(false)
    expect(lines[6]?.principal).toBeUndefined()

    const verbsOf = (items: readonly HistoryEvent[]) => items.map(({ verb }) => verb)
    expect(verbsOf((await store.listActs({ by: 'bob' })).items)).toEqual(['end-session', 'sign-in', 'sign-in'])
    const [listed] = (await store.listActs({ verb: 'sign-in', order: 'oldest' })).items
    expect(listed).toMatchObject({ by: 'ada', principal: 'ada', address: '127.0.0.1', after: sessionOf(own) })
    expect(verbsOf((await store.listActs({ verb: 'refuse-sign-in' })).items)).toHaveLength(3)

    // The broker's own chore may have put the first of them there already.
    await linkAll(store)
    expect(await verify(store)).toMatchObject({ lines: 8, fault: undefined })
    const text = await exported(store)
    for (const secret of ['canary', ...[own, one, two].map(tokenOf)]) expect(text).not.toContain(secret)
    const other = await newMemory()
    await imported(other, text)
    expect(await verify(other)).toMatchObject({ lines: 8, fault: undefined })
    expect(verbsOf(await signInsOf(other))).toEqual(verbsOf(lines))
    await linkAll(store, Date.now() + 401 * 86_400_000)
    expect(await signInsOf(store)).toEqual([])
  })

  it('a process that dies after any write leaves a session and its line, or neither', async () => {
    const store = await newStore()
    let isDead = false
    const dying = wrapMethods(store, (name, method) => {
      if (name !== 'accept' && name !== 'writeNotes') return undefined
      return async (...values) => {
        if (isDead) throw new Error('it is dead')
        isDead = true
        return method(...values)
      }
    })
    const memory: Memory = { remember: async () => ({ scheme: 'basic', facts: {} }), recall: async () => undefined }
    const sessions = createSessions(dying, () => memory, realClock.now)
    const left = async () => [
      (await store.notes('session', { limit: 9 })).length,
      (await signInsOf(store)).map(({ verb }) => verb),
    ]
    const begun = await sessions.begin({ name: 'bob', platform: 'default', roles: [] }, {}).catch(() => undefined)
    expect(await left()).toEqual([1, ['sign-in']])
    isDead = false
    await sessions.end(begun?.id ?? '', { by: 'ada' }).catch(() => undefined)
    expect(await left()).toEqual([0, ['sign-in', 'end-session']])
  })
})

it('what history.mask names is in none of these lines, under whatever name', async () => {
  const store = createMemoryStore({ clock: realClock })
  await visit(await start(store, realClock, { settings: { history: { mask: ['principal', 'address'] } } }))
  const lines = await signInsOf(store)
  expect(lines).toHaveLength(8)
  expect(JSON.stringify(lines)).not.toMatch(/bob|127\.0\.0\.1|"by":"cf"/)
  // Who ends the session of another is an operator, as in all other lines.
  expect(lines.map(({ by }) => by)).toEqual(['masked', 'masked', 'masked', 'masked', 'ada', ...Array(3)])
  const same = createMemoryStore({ clock: realClock })
  await visit(await start(same, realClock, { settings: { history: { mask: ['by'] } } }))
  const [first] = await signInsOf(same)
  expect(first).toMatchObject({ by: 'masked', principal: 'masked', address: '127.0.0.1' })
})

it('the command shows who it was, from where, and what was refused', async () => {
  const started = await start(createMemoryStore({ clock: realClock }), realClock)
  await started.signIn(bob)
  const env = { PURSER_URL: started.url, PURSER_USERNAME: 'ada', PURSER_PASSWORD: 'canary-of-ada' }
  const { out } = await runCli(['history', 'list', '--verb', 'sign-in'], { env })
  expect(out).toMatch(/ABOUT .*\n.* bob +sign-in +bob from 127\.0\.0\.1 +-/)
})

it('a flood of wrong passwords leaves one line a minute, and no request writes', async () => {
  const clock = createVirtualClock()
  const store = createMemoryStore({ clock })
  const started = await start(store, clock, { transport: 'in process' })
  const accept = store.accept.bind(store)
  let writes = 0
  store.accept = (target, decide, taker) => {
    writes += 1
    return accept(target, decide, taker)
  }
  const names = Array.from({ length: 10_000 }, (_, index) => `canary-${index}`)
  for (let from = 0; from < names.length; from += 50)
    await Promise.all(
      names
        .slice(from, from + 50)
        .map(name => started.send('POST', '/admin/session', { authorization: basic(name, name) })),
    )
  expect([writes, await signInsOf(store)]).toEqual([0, []])
  await clock.advance(minute)
  expect([writes, await signInsOf(store)]).toMatchObject([1, [{ verb: 'refuse-sign-in', after: { refused: 10_000 } }]])
  expect(JSON.stringify(await signInsOf(store))).not.toContain('canary')
  await clock.advance(10 * minute)
  expect(writes).toBe(1)
})

it('of many addresses ten are told apart, and the others are counted', () => {
  const refused = new RefusedSignIns()
  for (let index = 0; index < 10_000; index += 1)
    refused.count({ reason: 'wrong', scheme: 'basic', address: `10.0.${index >> 8}.${index & 255}` }, 0)
  const lines = refused.toLines(5)
  expect(lines).toHaveLength(11)
  expect(lines[0]).toMatchObject({ at: 5, address: '10.0.0.0', message: 'wrong', after: { refused: 1 } })
  expect(lines.at(-1)).toMatchObject({ after: { refused: 9_990 } })
  expect(lines.at(-1)?.address).toBeUndefined()
})

it('what the store did not take is counted on, and written when it is there again', async () => {
  const clock = createVirtualClock()
  const store = createMemoryStore({ clock })
  let isAway = true
  const accept: Store['accept'] = (target, decide) =>
    isAway ? Promise.reject(new Error('away')) : store.accept(target, decide)
  const kept = keepRefusedSignIns({ store: { accept }, clock, storeNow: clock.now })
  kept.count({ reason: 'wrong', principal: 'bob' })
  await clock.advance(minute)
  kept.count({ reason: 'wrong', principal: 'bob' })
  await clock.advance(minute)
  expect(await signInsOf(store)).toEqual([])
  isAway = false
  await clock.advance(minute)
  expect(await signInsOf(store)).toMatchObject([{ principal: 'bob', after: { refused: 2 } }])
  kept.count({ reason: 'wrong', principal: 'bob' })
  await kept.stop()
  expect(await signInsOf(store)).toHaveLength(2)
  expect(clock.pending()).toBe(0)
})
