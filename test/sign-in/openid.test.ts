import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import { startTestBroker } from '../../src/testing/test-broker.ts'
import { serviceOf } from '../engine/world.ts'
import { startWithProvider as start } from './openid-broker.ts'
import { createBrowser } from './provider.ts'

// The provider says at each start that it is not for production.
beforeAll(() => {
  for (const level of ['warn', 'info'] as const) vi.spyOn(console, level).mockReturnValue()
})
afterAll(() => {
  vi.restoreAllMocks()
})

const cookieOf = (browser: ReturnType<typeof createBrowser>, url: string, name: string) =>
  browser.jar.get(url)?.get(name)

describe('a sign-in with OpenID Connect', () => {
  it('leads to the provider and back, and begins a session for what the provider says', async () => {
    const { publicUrl, begin, reasons } = await start()
    const asked = await fetch(`${publicUrl}/admin/me`, { headers: { 'purser-client': 'console' } })
    expect(asked.headers.get('www-authenticate')).toBe(
      'Session realm="purser", sign-in="Sign%20in%20with%20Example%20%E2%80%9CID%E2%80%9D"',
    )
    const browser = createBrowser()
    const first = await fetch(begin, { redirect: 'manual' })
    expect(first.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^purser-sign-in=[\w.-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/),
    ])
    const sent = new URL(first.headers.get('location') ?? '').searchParams
    expect(Object.fromEntries(sent)).toMatchObject({
      response_type: 'code',
      scope: 'openid',
      code_challenge_method: 'S256',
    })
    const back = await browser.open(await browser.signIn(begin, 'ada'))
    expect([back.status, back.headers.get('location')]).toEqual([302, `${publicUrl}/console/`])
    expect(cookieOf(browser, publicUrl, 'purser-sign-in')).toBeUndefined()
    const me = await browser.open(`${publicUrl}/admin/me`)
    expect(await me.json()).toMatchObject({ name: 'example:ada', roles: ['admin'] })
    expect(reasons).toEqual(['undefined: no credentials of a kind that is accepted'])
  })

  it('stands in the history, and so does one that was refused', async () => {
    const { publicUrl, begin, store, clock } = await start()
    const browser = createBrowser()
    await browser.open(await browser.signIn(begin, 'ada'))
    await createBrowser().open(`${publicUrl}/console/signed-in?code=canary&state=canary`)
    const other = createBrowser()
    await other.open(await other.signIn(begin, 'bob'))
    await clock.advance(60_000)
    const lines = await store.history('')
    const here = { type: 'acted', address: '127.0.0.1' }
    expect(lines).toMatchObject([
      { ...here, verb: 'sign-in', by: 'example:ada', principal: 'example:ada', after: { scheme: 'openid' } },
      { ...here, verb: 'refuse-sign-in', message: expect.stringContaining('has begun no sign-in') },
      { ...here, verb: 'refuse-sign-in', principal: 'example:bob', message: expect.stringContaining('needs the role') },
    ])
    const token = cookieOf(browser, publicUrl, 'purser') ?? ''
    expect(token).not.toBe('')
    for (const secret of [token, 'canary']) expect(JSON.stringify(lines)).not.toContain(secret)
  })

  it('of somebody without a role of operators begins nothing', async () => {
    const { publicUrl, begin, reasons } = await start()
    const browser = createBrowser()
    const back = await browser.open(await browser.signIn(begin, 'bob'))
    expect(back.headers.get('location')).toBe(`${publicUrl}/console/?sign-in=refused`)
    expect(cookieOf(browser, publicUrl, 'purser')).toBeUndefined()
    expect(reasons).toEqual([expect.stringContaining('needs the role viewer')])
  })

  it('ends the session that the browser had before (fixation)', async () => {
    const { publicUrl, begin } = await start()
    const browser = createBrowser()
    const authorization = `Basic ${btoa('eve:pw')}`
    const planted = await fetch(`${publicUrl}/admin/session`, { method: 'POST', headers: { authorization } })
    const token = /purser=([^;]+)/.exec(planted.headers.getSetCookie()[0] ?? '')?.[1] ?? ''
    browser.jar.set(publicUrl, new Map([['purser', token]]))
    await browser.open(await browser.signIn(begin, 'ada'))
    expect(cookieOf(browser, publicUrl, 'purser')).not.toBe(token)
    expect((await fetch(`${publicUrl}/admin/me`, { headers: { cookie: `purser=${token}` } })).status).toBe(401)
  })

  it.each<[string, (back: URL, kept: string[]) => void, RegExp]>([
    ['another browser, which has no cookie (login CSRF)', (_, kept) => kept.splice(0), /has begun no sign-in/],
    ['another state', back => back.searchParams.set('state', 'x'.repeat(43)), /has not begun/],
    ['no state', back => back.searchParams.delete('state'), /has not begun/],
    ['two states', back => back.searchParams.append('state', 'x'), /has not begun/],
    ['a cookie of another sign-in', (_, kept) => kept.splice(0, 1, 'x'.repeat(43)), /has not begun/],
    ['another nonce (a token of another sign-in)', (_, kept) => kept.splice(1, 1, 'x'.repeat(43)), /another sign-in/],
    ['another verifier (a stolen code)', (_, kept) => kept.splice(2, 1, 'x'.repeat(43)), /refused the code/],
    ['a code that was made up', back => back.searchParams.set('code', 'made-up'), /refused the code/],
    ['two codes', back => back.searchParams.append('code', 'x'), /has refused/],
    [
      'an answer of another provider (mix-up)',
      back => back.searchParams.set('iss', 'https://evil.example'),
      /another provider/,
    ],
    ['an error', back => back.searchParams.set('error', 'access_denied'), /has refused/],
  ])('that comes back with %s is refused', async (_, change, reason) => {
    const { publicUrl, begin, reasons, failures } = await start()
    const browser = createBrowser()
    const back = new URL(await browser.signIn(begin, 'ada'))
    const kept = (cookieOf(browser, publicUrl, 'purser-sign-in') ?? '').split('.')
    change(back, kept)
    const own = browser.jar.get(publicUrl)
    if (kept.length === 0) own?.delete('purser-sign-in')
    else own?.set('purser-sign-in', kept.join('.'))
    const answer = await browser.open(back.href)
    expect(answer.headers.get('location')).toMatch(/\/console\/\?sign-in=refused$/)
    expect(cookieOf(browser, publicUrl, 'purser')).toBeUndefined()
    expect(reasons).toEqual([expect.stringMatching(reason)])
    // It is no failure of the provider.
    expect(failures).toEqual([])
  })

  it('cannot be finished twice with the same code', async () => {
    const { publicUrl, begin } = await start()
    const browser = createBrowser()
    const back = await browser.signIn(begin, 'ada')
    const kept = cookieOf(browser, publicUrl, 'purser-sign-in') ?? ''
    expect((await browser.open(back)).headers.get('location')).toBe(`${publicUrl}/console/`)
    const again = await fetch(back, { redirect: 'manual', headers: { cookie: `purser-sign-in=${kept}` } })
    expect(again.headers.get('location')).toContain('sign-in=refused')
    expect(again.headers.getSetCookie().join()).not.toContain('purser=')
  })

  it.each<[string, string, string]>([
    ['says that it is somebody else', '/.well-known/openid-configuration', '{"issuer":"https://evil.example"}'],
    ['names no endpoints', '/.well-known/openid-configuration', '{}'],
    ['gives no id_token', '/token', '{"access_token":"x"}'],
    ['gives an id_token of somebody else', '/token', '{"id_token":"a.b.c"}'],
  ])('with a provider that %s begins nothing', async (_, path, body) => {
    const { provider, publicUrl, begin } = await start()
    provider.intercept = ({ url }, response) => {
      if (url !== path) return false
      const text = body === '{}' ? JSON.stringify({ issuer: provider.issuer }) : body
      response.setHeader('content-type', 'application/json').end(text)
      return true
    }
    const browser = createBrowser()
    if (path === '/token') await browser.open(await browser.signIn(begin, 'ada'))
    else expect((await browser.open(begin)).headers.get('location')).toBe(`${publicUrl}/console/?sign-in=unavailable`)
    expect(cookieOf(browser, publicUrl, 'purser')).toBeUndefined()
  })

  it.each([
    [401, '{"error":"invalid_client"}', 'answered 401 (invalid_client)'],
    [400, '{"error":"canary <b>"}', 'answered 400'],
    [400, 'no JSON', 'answered 400'],
    [500, '{"error":"invalid_grant"}', 'answered 500'],
  ])(
    'with a provider that answers a code with %i %s begins nothing, and is not refused',
    async (status, body, told) => {
      const { provider, publicUrl, begin, failures } = await start()
      provider.intercept = ({ url }, response) => {
        if (url !== '/token') return false
        response.writeHead(status, { 'content-type': 'application/json' }).end(body)
        return true
      }
      const browser = createBrowser()
      const answer = await browser.open(await browser.signIn(begin, 'ada'))
      expect(answer.headers.get('location')).toBe(`${publicUrl}/console/?sign-in=unavailable`)
      expect(failures.map(error => (error as Error).message)).toEqual([`${provider.issuer}/token ${told}`])
    },
  )

  it('is not there where none is configured, and only GET begins it', async () => {
    const { begin } = await start()
    expect((await fetch(begin, { method: 'POST' })).status).toBe(405)
    const broker = await startTestBroker({
      services: [serviceOf({})],
      authenticator: createBasicAuthenticator([
        { username: 'a', password: 'b', platform: 'default', roles: ['viewer'] },
      ]),
    })
    onTestFinished(() => broker.stop())
    expect((await broker.fetch(new Request(`${broker.url}/console/sign-in`))).status).toBe(404)
  })
})
