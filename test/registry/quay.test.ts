/** Against a fake of Quay's own API: there is no Quay to be had here. */
import { afterEach, describe, expect, it } from 'vitest'
import { type Front, startFront } from './front.ts'
import { labelsOf, sha256, specText } from './push.ts'
import { ask } from './settings-for.ts'

const pages: Readonly<Record<string, object>> = {
  '': { repositories: [{ name: 'pg-apb' }, { name: 'tool' }], next_page: 'two' },
  two: { repositories: [{ name: 'my-apb' }, { name: 'untagged' }] },
}
const labels: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'pg-apb': labelsOf(specText('pg'), { 'com.redhat.apb.runtime': '2' }),
  'my-apb': labelsOf(specText('my')),
  tool: { maintainer: 'x' },
}

function answer(url: URL, authorization: string | undefined): object | number {
  if (authorization !== 'Bearer quay-token') return 401
  if (url.pathname === '/api/v1/repository')
    return url.searchParams.get('namespace') === 'team' ? (pages[url.searchParams.get('next_page') ?? ''] ?? 404) : 404
  const [, name = '', rest = ''] = /^\/api\/v1\/repository\/team\/([^/]+)\/(.*)$/.exec(url.pathname) ?? []
  const tag = url.searchParams.get('specificTag')
  if (rest === 'tag/')
    return {
      tags:
        name === 'untagged' || !['latest', 'v1'].includes(String(tag))
          ? []
          : [{ name: tag, manifest_digest: sha256(name) }],
    }
  if (rest !== `manifest/${sha256(name)}/labels`) return 404
  return { labels: Object.entries(labels[name] ?? {}).map(([key, value]) => ({ key, value })) }
}

describe('Quay', () => {
  const fronts: Front[] = []
  afterEach(async () => {
    for (const front of fronts.splice(0)) await front.stop()
  })
  const list = async (more: Readonly<Record<string, unknown>>, broken = '') => {
    const front = await startFront(0, ({ url = '', headers }, outgoing) => {
      const reply =
        broken !== '' && url.includes(broken) ? 500 : answer(new URL(url, 'http://quay'), headers.authorization)
      outgoing.writeHead(typeof reply === 'number' ? reply : 200).end(JSON.stringify(reply))
      return true
    })
    fronts.push(front)
    const host = new URL(front.url).host
    return { host, answer: await ask({ type: 'quay', url: front.url, org: 'team', token: 'quay-token', ...more }) }
  }

  it('lists the bundles of an organisation, page by page', async () => {
    const { host, answer } = await list({})
    expect(answer).toEqual({
      kind: 'complete',
      found: [
        { name: 'pg-apb', source: specText('pg'), runtime: 2 },
        { name: 'my-apb', source: specText('my'), runtime: 1 },
      ].map(found => ({
        ...found,
        image: `${host}/team/${found.name}@${sha256(found.name)}`,
        tag: 'latest',
        digest: sha256(found.name),
      })),
      problems: [],
    })
  })

  it('applies the lists, and tells of images that are named and not there', async () => {
    const { answer } = await list({ white_list: ['apb$', 'untagged'], black_list: ['^my'], images: ['untagged'] })
    expect(answer).toMatchObject({ kind: 'complete', found: [{ name: 'pg-apb' }] })
    expect(answer).toMatchObject({ problems: [expect.stringContaining('untagged: it has no tag latest')] })
  })

  it('reads several tags of one image', async () => {
    const { answer } = await list({ white_list: ['^pg'], tag: { named: { 'pg-apb': ['latest', 'v1', 'v2'] } } })
    expect(answer).toMatchObject({
      kind: 'complete',
      found: [
        { name: 'pg-apb', tag: 'latest' },
        { name: 'pg-apb:v1', tag: 'v1', variant: 'v1' },
      ],
      problems: ['pg-apb: it has no tag v2; push it, or take it out of tag'],
    })
  })

  it('is partial where one image cannot be read', async () => {
    const { answer } = await list({}, '/my-apb/')
    expect(answer).toMatchObject({
      kind: 'partial',
      found: [{ name: 'pg-apb' }],
      problems: [expect.stringMatching(/^my-apb: .*500/)],
    })
  })

  it('has failed where a page cannot be had', async () => {
    expect((await list({}, 'next_page')).answer).toMatchObject({ kind: 'failed' })
  })

  it('has failed where the token is refused, and does not show it', async () => {
    const { answer } = await list({ token: 'wrong-token' })
    expect(answer).toMatchObject({ kind: 'failed', problem: expect.stringContaining('401') })
    expect(JSON.stringify(answer)).not.toContain('wrong-token')
  })
})
