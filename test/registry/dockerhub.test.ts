/** The API of the hub is a fake, since the real one cannot be asked from tests; the registry behind it is real. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type RegistryServer, startRegistry, whyNoRegistry } from './docker-registry.ts'
import { type Front, startFront } from './front.ts'
import { labelsOf, type Pushed, pushImage, specText } from './push.ts'
import { ask } from './settings-for.ts'

const reason = whyNoRegistry()

describe.skipIf(reason !== undefined)(`Docker Hub${reason === undefined ? '' : ` (${reason})`}`, () => {
  let server: RegistryServer
  let pushed: Pushed
  const fronts: Front[] = []
  beforeAll(async () => {
    server = await startRegistry()
    const base = `http://127.0.0.1:${server.port}`
    pushed = await pushImage(base, 'org/pg-apb', labelsOf(specText('pg')))
    await pushImage(base, 'org/tool', {})
    await pushImage(base, 'other/my-apb', labelsOf(specText('my')))
  }, 60_000)
  afterAll(() => server?.stop())
  afterEach(async () => {
    for (const front of fronts.splice(0)) await front.stop()
  })

  const list = async (entry: Readonly<Record<string, unknown>>, brokenPage = 0) => {
    const hub = await startFront(0, (incoming, outgoing) => {
      const { pathname, searchParams } = new URL(incoming.url ?? '', 'http://hub')
      const page = Number(searchParams.get('page') ?? '1')
      const send = (status: number, body: object) => outgoing.writeHead(status).end(JSON.stringify(body))
      if (pathname === '/v2/users/login/') {
        incoming.setEncoding('utf8')
        let text = ''
        incoming.on('data', chunk => {
          text += chunk
        })
        incoming.on('end', () => (text.includes('"right-pass"') ? send(200, { token: 'jwt-1' }) : send(401, {})))
      } else if (pathname !== '/v2/repositories/org/' || page === brokenPage) send(500, {})
      else if (page === 1)
        send(200, { next: `http://${incoming.headers.host}${pathname}?page=2`, results: [{ name: 'pg-apb' }] })
      else send(200, { next: null, results: [{ name: 'tool' }, { name: 'not-pushed' }] })
      return true
    })
    fronts.push(hub)
    const dockerHub = { hub: hub.url, registry: `http://127.0.0.1:${server.port}` }
    return { hub, answer: await ask({ type: 'dockerhub', org: 'org', ...entry }, { dockerHub }) }
  }

  it('lists an organisation page by page, and reads its images', async () => {
    const { answer, hub } = await list({})
    expect(answer).toEqual({
      kind: 'complete',
      found: [
        {
          name: 'org/pg-apb',
          image: `docker.io/org/pg-apb@${pushed.manifest}`,
          tag: 'latest',
          digest: pushed.manifest,
          source: specText('pg'),
          runtime: 1,
        },
      ],
      problems: [],
    })
    expect(hub.seen).toHaveLength(2)
  })

  it('reads images of others that are named', async () => {
    const { answer } = await list({ white_list: ['-apb$'], images: ['other/my-apb', 'pg-apb'] })
    expect(answer).toMatchObject({ kind: 'complete', found: [{ name: 'org/pg-apb' }, { name: 'other/my-apb' }] })
  })

  it('reads several tags of one image, which needs no name of the organisation', async () => {
    const { manifest } = await pushImage(
      `http://127.0.0.1:${server.port}`,
      'org/pg-apb',
      labelsOf(specText('pg', '1.0.0')),
      {
        tag: 'v1.0',
      },
    )
    const { answer } = await list({ white_list: ['-apb$'], tag: { named: [{ 'pg-apb': ['latest', 'v1.0'] }] } })
    expect(answer).toMatchObject({
      kind: 'complete',
      found: [
        { name: 'org/pg-apb', tag: 'latest', digest: pushed.manifest },
        { name: 'org/pg-apb:v1.0', tag: 'v1.0', variant: 'v1.0', image: `docker.io/org/pg-apb@${manifest}` },
      ],
    })
  })

  it('logs in where there is a user', async () => {
    const { answer, hub } = await list({ user: 'u', pass: 'right-pass' })
    expect(answer.kind).toBe('complete')
    expect(hub.seen.map(({ authorization }) => authorization)).toEqual([undefined, 'Bearer jwt-1', 'Bearer jwt-1'])
  })

  it('has failed where the user is refused, and shows no credentials', async () => {
    const { answer } = await list({ user: 'u', pass: 'wrong-pass' })
    expect(answer).toEqual({ kind: 'failed', problem: expect.stringContaining('refuses the credentials') })
    expect(JSON.stringify(answer)).not.toContain('wrong-pass')
  })

  it('has failed where a page cannot be had', async () => {
    expect((await list({}, 2)).answer).toMatchObject({ kind: 'failed' })
  })
})
