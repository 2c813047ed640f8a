import { createHash } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type BasicUser, createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import { createOpenAuthenticator } from '../../src/authenticator/open.ts'
import { hashPassword } from '../../src/authenticator/password.ts'
import { type Authenticator, combineAuthenticators } from '../../src/authenticator.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { startTestBroker, type TestBrokerOptions } from '../../src/testing/test-broker.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { serviceOf } from '../engine/world.ts'
import { cheapHash } from '../http/cheap-hash.ts'

const minute = 60_000
const everything = { platform: 'default', roles: ['platform', 'admin'] } as const
const ada: BasicUser = { username: 'ada', password: 'one', ...everything }
const bob: BasicUser = { username: 'bob', password: 'two', platform: 'default', roles: ['viewer'] }

async function start(users: readonly BasicUser[] = [ada, bob], options: Partial<TestBrokerOptions> = {}) {
  const clock = options.clock ?? createVirtualClock()
  const authenticator = options.authenticator ?? createBasicAuthenticator(users, clock)
  const broker = await startTestBroker({ services: [serviceOf({})], ...options, authenticator, clock })
  onTestFinished(() => broker.stop())
  const isOwn = (origin: string) => new URL(origin).host === new URL(broker.url).host
  const send = async (method: string, path: string, headers: Readonly<Record<string, string>> = {}) => {
    const { origin = broker.url, ...more } = headers
    const response = await broker.fetch(
      new Request(`${isOwn(origin) ? origin : broker.url}${path}`, {
        method,
        headers: { 'x-broker-api-version': '2.17', origin, ...more },
      }),
    )
    const body = (await response.json()) as Readonly<Record<string, unknown>>
    return { status: response.status, body, headers: response.headers, cookies: response.headers.getSetCookie() }
  }
  const signIn = async (user = 'ada', password = 'one', headers = {}) => {
    const authorization = `Basic ${btoa(`${user}:${password}`)}`
    return send('POST', '/admin/session', { authorization, ...headers })
  }
  return { ...broker, clock, send, signIn }
}

/** For replicas. */
function shareStore() {
  const clock = createVirtualClock()
  return { clock, store: createMemoryStore({ clock }) }
}

type Started = Awaited<ReturnType<typeof start>>

function cookieOf({ cookies }: { readonly cookies: readonly string[] }): string {
  return cookies[0]?.split(';')[0] ?? ''
}

async function signedIn(started: Started, user = 'ada', password = 'one') {
  return cookieOf(await started.signIn(user, password))
}

describe('a session', () => {
  it('is begun with credentials and then stands for them, in the operators’ API and in the OSB API', async () => {
    const started = await start()
    const begun = await started.signIn()
    expect(begun).toMatchObject({ status: 200, body: { name: 'ada', roles: ['platform', 'admin'] } })
    expect(begun.body.expires_at).toBe(new Date(started.clock.now() + 30 * minute).toISOString())
    expect(begun.cookies).toEqual([
      expect.stringMatching(/^purser=[\w.-]+; Path=\/; Max-Age=1800; HttpOnly; SameSite=Strict$/),
    ])
    expect(JSON.stringify(begun.body)).not.toContain(cookieOf(begun).split('=')[1])
    for (const path of ['/admin/chores', '/v2/catalog'])
      expect((await started.send('GET', path, { cookie: cookieOf(begun) })).status).toBe(200)
  })

  it('is good on every replica, and for whatever the user may do by now', async () => {
    const shared = shareStore()
    const [one, other] = [await start(undefined, shared), await start([{ ...ada, roles: ['viewer'] }, bob], shared)]
    const cookie = await signedIn(one)
    expect((await other.send('GET', '/admin/chores', { cookie })).status).toBe(200)
    expect((await one.send('POST', '/admin/chores/purge/runs', { cookie })).status).toBe(202)
    expect(await other.send('POST', '/admin/chores/purge/runs', { cookie })).toMatchObject({
      status: 403,
      body: { error: 'Forbidden' },
    })
    expect((await other.send('GET', '/v2/catalog', { cookie })).status).toBe(401)
  })

  it('lasts for half an hour, is renewed while it is used, and ends after twelve hours', async () => {
    const started = await start()
    let cookie = await signedIn(started)
    await started.clock.advance(29 * minute)
    for (let used = 0; used < 23; used += 1) {
      const renewed = await started.send('POST', '/admin/session', { cookie })
      expect(renewed.status).toBe(200)
      cookie = cookieOf(renewed)
      await started.clock.advance(29 * minute)
      expect((await started.send('GET', '/admin/chores', { cookie })).status).toBe(200)
    }
    const last = await started.send('POST', '/admin/session', { cookie })
    expect(last.cookies[0]).toContain('Max-Age=1440;')
    await started.clock.advance(24 * minute)
    expect((await started.send('GET', '/admin/chores', { cookie: cookieOf(last) })).status).toBe(401)
  })

  it('is over on every replica when its browser signs out, and not only forgotten by it', async () => {
    const shared = shareStore()
    const [one, other] = [await start(undefined, shared), await start(undefined, shared)]
    const cookie = await signedIn(one)
    const another = await signedIn(one)
    expect((await other.send('GET', '/admin/chores', { cookie })).status).toBe(200)
    const ended = await one.send('DELETE', '/admin/session', { cookie })
    expect(ended).toMatchObject({ status: 200, cookies: [expect.stringMatching(/^purser=; Path=\/; Max-Age=0;/)] })
    for (const replica of [one, other]) {
      expect((await replica.send('GET', '/admin/chores', { cookie })).status).toBe(401)
      expect((await replica.send('POST', '/admin/session', { cookie })).status).toBe(401)
      expect((await replica.send('GET', '/admin/chores', { cookie: another })).status).toBe(200)
    }
  })

  it('is ended by an admin, one or all of somebody, on every replica', async () => {
    const shared = shareStore()
    const [one, other] = [await start(undefined, shared), await start(undefined, shared)]
    const authorization = `Basic ${btoa('ada:one')}`
    const stolen = [
      await signedIn(one, 'bob', 'two'),
      await signedIn(one, 'bob', 'two'),
      await signedIn(one, 'bob', 'two'),
    ]
    const isGood = async (cookie = '') => (await other.send('GET', '/admin/chores', { cookie })).status === 200
    expect((await one.send('GET', '/admin/sessions', { cookie: stolen[0] ?? '' })).status).toBe(403)
    const { body } = await one.send('GET', '/admin/sessions', { authorization })
    const items = body.items as readonly { readonly id: string; readonly principal: string }[]
    expect(items.map(({ principal }) => principal)).toEqual(['bob', 'bob', 'bob'])
    expect(items[0]).toMatchObject({ scheme: 'basic', begun_at: expect.any(String), expires_at: expect.any(String) })
    // What operators see of a session is not what its cookie holds.
    for (const cookie of stolen) expect(JSON.stringify(items)).not.toContain(cookie.split('=')[1])
    const id = createHash('sha256')
      .update(stolen[0]?.split('=')[1] ?? '')
      .digest('base64url')
    expect((await one.send('DELETE', `/admin/sessions/${id}`, { authorization })).body).toEqual({ ended: 1 })
    expect([await isGood(stolen[0]), await isGood(stolen[1])]).toEqual([false, true])
    expect(await one.send('DELETE', `/admin/sessions/${id}`, { authorization })).toMatchObject({
      status: 404,
      body: { error: 'UnknownSession' },
    })
    expect((await one.send('DELETE', '/admin/sessions', { authorization })).status).toBe(400)
    const own = await signedIn(one)
    expect((await one.send('DELETE', '/admin/sessions?principal=bob', { authorization })).body).toEqual({ ended: 2 })
    expect([await isGood(stolen[1]), await isGood(stolen[2]), await isGood(own)]).toEqual([false, false, true])
  })

  it('that was ended is not brought back by a page that renews it at the same time', async () => {
    const started = await start()
    const cookie = await signedIn(started)
    const { store } = started
    const note = store.note.bind(store)
    // Between the look at the session and the renewal, somebody ends it.
    let looks = 0
    store.note = async (kind, id) => {
      const found = await note(kind, id)
      looks += 1
      if (kind === 'session' && looks === 2 && found) await store.writeNotes([{ kind, id, version: found.version }])
      return found
    }
    expect((await started.send('POST', '/admin/session', { cookie })).cookies).toEqual([])
    store.note = note
    expect((await started.send('GET', '/admin/chores', { cookie })).status).toBe(401)
  })

  it('leaves nothing in the ledger that could be sent as a cookie', async () => {
    const started = await start()
    const token = (await signedIn(started)).split('=')[1] ?? ''
    const [note] = await started.store.notes('session', { limit: 10 })
    expect(JSON.stringify(note)).not.toContain(token)
    expect((await started.send('GET', '/admin/chores', { cookie: `purser=${note?.id}` })).status).toBe(401)
  })

  it('needs a role of operators, and is not begun by reading', async () => {
    const started = await start([{ ...ada, roles: ['platform'] }])
    expect(await started.signIn()).toMatchObject({ status: 403, cookies: [] })
    const read = await started.send('GET', '/admin/session', { authorization: `Basic ${btoa('ada:one')}` })
    expect(read.status).toBe(403)
    const other = await start()
    expect((await other.send('GET', '/admin/session', { cookie: await signedIn(other) })).status).toBe(405)
  })

  it('is Secure over TLS, and of this host and path only', async () => {
    const tls = await start(undefined, { settings: { server: { publicUrl: 'https://broker.example/east/' } } })
    const [cookie] = (await tls.signIn('ada', 'one', { origin: 'https://broker.example' })).cookies
    expect(cookie).toMatch(/^__Secure-purser=[\w.-]+; Path=\/east; .*; HttpOnly; SameSite=Strict; Secure$/)
    const direct = await start()
    const secure = await direct.signIn('ada', 'one', { origin: direct.url.replace('http:', 'https:') })
    expect(secure.cookies[0]).toMatch(/^__Host-purser=[\w.-]+; Path=\/; .*; Secure$/)
  })

  it('asks for nothing that a browser would show a dialog of its own for', async () => {
    const started = await start()
    const asked = await started.send('GET', '/admin/chores', { 'purser-client': 'console' })
    expect(asked.status).toBe(401)
    expect(asked.headers.get('www-authenticate')).toBe('Session realm="purser"')
    expect((await started.send('GET', '/admin/chores')).headers.get('www-authenticate')).toContain('Basic')
  })

  it('gives way to credentials, right or wrong', async () => {
    const started = await start()
    const cookie = await signedIn(started)
    const authorization = `Basic ${btoa('bob:two')}`
    const asBob = await started.send('POST', '/admin/chores/purge/runs', { cookie, authorization })
    expect(asBob.status).toBe(403)
    const wrong = `Basic ${btoa('ada:wrong')}`
    expect((await started.send('GET', '/admin/chores', { cookie, authorization: wrong })).status).toBe(401)
  })

  it('works with several authenticators, each of which has its own users', async () => {
    const clock = createVirtualClock()
    const authenticator = combineAuthenticators([ada, bob].map(user => createBasicAuthenticator([user], clock)))
    const started = await start([], { clock, authenticator })
    for (const [user, password] of [
      ['ada', 'one'],
      ['bob', 'two'],
    ] as const) {
      const cookie = await signedIn(started, user, password)
      const renewed = await started.send('POST', '/admin/session', { cookie })
      expect(renewed.body.name).toBe(user)
    }
  })

  it('is not begun for somebody of the same name whom another authenticator has let in', async () => {
    const clock = createVirtualClock()
    const byCertificate: Authenticator = {
      scheme: 'certificate',
      authenticate: ({ headers }) =>
        headers['x-certificate'] === undefined ? undefined : { name: 'ada', platform: 'default', roles: ['viewer'] },
    }
    const authenticator = combineAuthenticators([byCertificate, createBasicAuthenticator([ada], clock)])
    const started = await start([], { clock, authenticator })
    const asked = await started.send('POST', '/admin/session', { 'x-certificate': 'ada' })
    expect(asked).toMatchObject({ status: 200, body: { roles: ['viewer'] }, cookies: [] })
    expect((await started.signIn()).cookies).toHaveLength(1)
  })

  it('is not needed where everybody is let in', async () => {
    const open = await start([ada], { authenticator: createOpenAuthenticator() })
    const begun = await open.send('POST', '/admin/session')
    expect(begun).toMatchObject({ status: 200, body: { name: 'anonymous' }, cookies: [] })
  })
})

const tokenOf = (cookie: string) => cookie.slice(cookie.indexOf('=') + 1)
const toCookie = (token: string) => `purser=${token}`

/** Each gets a good cookie of bob, who may only look, and what the broker was started with. */
const attacks: Readonly<Record<string, (cookie: string, started: Started) => string | Promise<string>>> = {
  'a token that nobody was given': () => toCookie('A'.repeat(43)),
  'a token with another last letter': cookie => {
    const token = tokenOf(cookie)
    return toCookie(`${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`)
  },
  'a shorter token': cookie => toCookie(tokenOf(cookie).slice(0, -1)),
  'a longer token': cookie => toCookie(`${tokenOf(cookie)}A`),
  'the name of a session': cookie => toCookie(createHash('sha256').update(tokenOf(cookie)).digest('base64url')),
  'the name of another kind of note': async (_, { store }) => {
    const id = createHash('sha256').update('B'.repeat(43)).digest('base64url')
    await store.writeNotes([{ kind: 'request', id, version: 0, doc: {} }])
    return toCookie('B'.repeat(43))
  },
  'a session whose time is over': async (cookie, { clock }) => {
    await clock.advance(30 * minute)
    return cookie
  },
  'no token at all': () => 'purser=; purser; =',
}

describe('whoever sends', () => {
  it.each(Object.keys(attacks))('%s is nobody', async name => {
    const started = await start()
    const good = await signedIn(started, 'bob', 'two')
    expect((await started.send('GET', '/admin/chores', { cookie: good })).status).toBe(200)
    const cookie = (await attacks[name]?.(good, started)) ?? ''
    expect((await started.send('GET', '/admin/chores', { cookie })).status).toBe(401)
  })

  it('a session of before the password was changed is nobody', async () => {
    const [hash, otherHash] = await Promise.all([hashPassword('one'), hashPassword('one')])
    const shared = shareStore()
    const old = await signedIn(await start(undefined, shared))
    const hashed = await signedIn(await start([{ username: 'ada', passwordHash: hash, ...everything }], shared))
    const changed = [
      { ...ada, password: 'three' },
      { username: 'ada', passwordHash: hash, ...everything },
      // A hash made anew is another secret, though the password is the same.
      { username: 'ada', passwordHash: otherHash, ...everything },
    ]
    for (const user of changed)
      expect((await (await start([user], shared)).send('GET', '/admin/chores', { cookie: old })).status).toBe(401)
    const same = await start([{ username: 'ada', passwordHash: hash, ...everything }], shared)
    expect((await same.send('GET', '/admin/chores', { cookie: hashed })).status).toBe(200)
    const another = await start([{ username: 'ada', passwordHash: otherHash, ...everything }], shared)
    expect((await another.send('GET', '/admin/chores', { cookie: hashed })).status).toBe(401)
  })

  it('a session ends with the password that began it, while two of them are good', async () => {
    const [previous, next] = [cheapHash('one'), cheapHash('two')]
    const shared = shareStore()
    const user = { username: 'ada', ...everything }
    const before = await start([{ ...user, passwordHash: previous }], shared)
    const both = await start([{ ...user, passwordHash: next, previousPasswordHash: previous }], shared)
    const ofBefore = await signedIn(before)
    const ofPrevious = await signedIn(both)
    const ofNext = await signedIn(both, 'ada', 'two')
    const after = await start([{ ...user, passwordHash: next }], shared)
    const statusOf = async ({ send }: Started, cookie: string) =>
      (await send('GET', '/admin/chores', { cookie })).status
    for (const cookie of [ofBefore, ofPrevious, ofNext]) expect(await statusOf(both, cookie)).toBe(200)
    for (const cookie of [ofBefore, ofPrevious]) expect(await statusOf(after, cookie)).toBe(401)
    expect(await statusOf(after, ofNext)).toBe(200)
  })

  it('a session that was there before (fixation) gets a new one by signing in', async () => {
    const started = await start()
    const planted = await signedIn(started, 'bob', 'two')
    const begun = await started.signIn('ada', 'one', { cookie: planted })
    expect(begun.body.name).toBe('ada')
    expect(cookieOf(begun)).not.toBe(planted)
    expect((await started.send('GET', '/admin/chores', { cookie: planted })).status).toBe(401)
    expect(cookieOf(await started.signIn())).not.toBe(cookieOf(await started.signIn()))
  })

  it('a plain cookie to a broker behind TLS is nobody: it was planted on the way', async () => {
    const publicUrl = 'https://broker.example'
    const started = await start(undefined, { settings: { server: { publicUrl } } })
    const [name, token] = cookieOf(await started.signIn('ada', 'one', { origin: publicUrl })).split('=')
    expect(name).toBe('__Host-purser')
    expect((await started.send('GET', '/admin/chores', { cookie: `purser=${token}` })).status).toBe(401)
    const both = `purser=x; __Host-purser=${token}; other=1`
    expect((await started.send('GET', '/admin/chores', { cookie: both })).status).toBe(200)
  })

  it.each([
    ['POST', '/admin/chores/purge/runs'],
    ['POST', '/admin/session'],
    ['DELETE', '/admin/session'],
    ['PUT', '/v2/service_instances/i'],
    ['DELETE', '/v2/service_instances/i?service_id=s&plan_id=p'],
  ])('%s %s from a page of another site is refused, though the session is good', async (method, path) => {
    const started = await start()
    const cookie = await signedIn(started)
    const strangers: Record<string, string>[] = [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'same-site' }]
    for (const headers of strangers)
      expect(await started.send(method, path, { cookie, ...headers })).toMatchObject({
        status: 403,
        body: { error: 'CrossSite' },
      })
  })
})
