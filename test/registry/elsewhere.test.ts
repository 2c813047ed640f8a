import { afterEach, describe, expect, it } from 'vitest'
import { type Front, type Handler, startFront } from './front.ts'
import { ask } from './settings-for.ts'

const user = { user: 'reader', pass: 's3cret-pass' }
const basic = `Basic ${Buffer.from(`${user.user}:${user.pass}`).toString('base64')}`
const onLocalhost = (url: string) => url.replace('127.0.0.1', 'localhost')

describe('a registry that names other servers', () => {
  const fronts: Front[] = []
  const start = async (handle: Handler) => {
    const front = await startFront(0, handle)
    fronts.push(front)
    return front
  }
  afterEach(async () => {
    for (const front of fronts.splice(0)) await front.stop()
  })

  /** Its manifests are elsewhere; `challenge` is what it asks for itself. */
  const startRegistry = (location: string, challenge?: string) =>
    start(({ url = '', headers }, outgoing) => {
      if (challenge !== undefined && headers.authorization === undefined)
        outgoing.writeHead(401, { 'www-authenticate': challenge }).end('{}')
      else if (url.includes('/manifests/')) outgoing.writeHead(307, { location }).end()
      else outgoing.end(url.startsWith('/v2/_catalog') ? '{"repositories":["team/pg"]}' : '{}')
      return true
    })

  /** Asks for a token, and gives one. */
  const startOther = (realm: () => string) =>
    start(({ url = '' }, outgoing) => {
      if (url.startsWith('/token')) outgoing.end('{"token":"given"}')
      else outgoing.writeHead(401, { 'www-authenticate': `Bearer realm="${realm()}",service="x"` }).end('{}')
      return true
    })

  it('is asked for by its own challenge, not by that of a server it redirects to', async () => {
    const other: Front = await startOther(() => `${other.url}/token`)
    const registry = await startRegistry(`${other.url}/blob`)
    const answer = await ask({ type: 'oci', url: registry.url, private_hosts: ['127.0.0.1'], ...user })
    expect(answer).toMatchObject({ kind: 'partial', problems: [expect.stringContaining('refuses access (401)')] })
    expect(other.seen).toEqual([{ path: '/blob', authorization: undefined }])
    expect(registry.seen.map(({ authorization }) => authorization)).toEqual([undefined, undefined, undefined])
  })

  it('sends credentials to a token service of its own site, or to one that is named', async () => {
    const tokens: Front = await startOther(() => '')
    const realm = onLocalhost(`${tokens.url}/token`)
    const registry = await startRegistry('/nowhere', `Bearer realm="${realm}",service="x"`)
    const entry = { type: 'oci', url: registry.url, ...user }
    expect(await ask(entry)).toEqual({
      kind: 'failed',
      problem: expect.stringContaining('add localhost to token_hosts'),
    })
    expect(await ask({ ...entry, private_hosts: ['localhost'] })).toMatchObject({ kind: 'failed' })
    expect(tokens.seen).toEqual([])
    await ask({ ...entry, token_hosts: ['localhost'] })
    expect(tokens.seen[0]).toMatchObject({ authorization: basic })
  })

  it('asks nobody in a private network for a token, unless that one is named', async () => {
    const tokens: Front = await startOther(() => '')
    const realm = onLocalhost(`${tokens.url}/token`)
    const registry = await startRegistry('/nowhere', `Bearer realm="${realm}",service="x"`)
    const entry = { type: 'oci', url: registry.url }
    expect(await ask(entry)).toEqual({ kind: 'failed', problem: expect.stringContaining('private_hosts') })
    expect(tokens.seen).toEqual([])
    await ask({ ...entry, private_hosts: ['localhost'] })
    expect(tokens.seen[0]).toMatchObject({ authorization: undefined })
  })

  it.each([
    ['an address of this machine', (url: string) => url],
    ['a name that means this machine', onLocalhost],
    ['an address in another spelling', (url: string) => url.replace('127.0.0.1', '2130706433')],
    ['an address within IPv6', (url: string) => url.replace('127.0.0.1', '[::ffff:127.0.0.1]')],
    ['the metadata of a cloud', () => 'http://169.254.169.254/latest/meta-data/'],
    ['a private network', () => 'http://10.1.2.3/'],
  ])('does not lead to %s', async (_, toUrl) => {
    const other = await startOther(() => '')
    const registry = await startRegistry(toUrl(`${other.url}/inside`))
    const answer = await ask({ type: 'oci', url: registry.url })
    expect(answer).toMatchObject({ kind: 'partial', problems: [expect.stringContaining('add it to private_hosts')] })
    expect(other.seen).toEqual([])
  })

  it('keeps no charts there either', async () => {
    const other = await startOther(() => '')
    const index = () =>
      `apiVersion: v1\nentries:\n  pg:\n    - {name: pg, version: 1.0.0, urls: ["${onLocalhost(other.url)}/pg.tgz"]}\n`
    const repository = await start((_, outgoing) => {
      outgoing.end(index())
      return true
    })
    const entry = { type: 'helm', url: repository.url, runner: 'example.com/runner:1' }
    expect(await ask(entry)).toMatchObject({ problems: [expect.stringContaining('private_hosts')] })
    expect(other.seen).toEqual([])
    await ask({ ...entry, private_hosts: ['localhost'] })
    expect(other.seen.map(({ path }) => path)).toContain('/pg.tgz')
  })
})
