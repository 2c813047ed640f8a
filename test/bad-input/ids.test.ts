import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openStore } from '../../src/running/open-store.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import type { Setup } from '../conformance/harness.ts'
import { full } from '../conformance/services.ts'
import { attacking, binding, expectRefusal, instance, place, sync, syncQuery } from './target.ts'

/** Path segments as they stand on the wire, and the id that each of them means. */
const segments: readonly (readonly [what: string, segment: string])[] = [
  ['a slash', 'a%2Fb'],
  ['the path of another endpoint', 'a%2Flast_operation'],
  ['an escape that was escaped', 'a%252Fb'],
  ['dots', '..'],
  ['escaped dots', '%2e%2e'],
  ['a way up', '..%2f..%2fetc%2fpasswd'],
  ['a backslash', '..%5C..%5Cwindows'],
  ['other control characters', 'a%01%1F%7Fb'],
  ['line ends', 'a%0D%0ASet-Cookie:%20x=1'],
  ['a space', '%20'],
  ['a plus', 'a+b'],
  ['quotes and a comment', "x'%20OR%20'1'='1';--%22"],
  ['a question mark and a hash', 'a%3Fb%23c'],
  ['letters', '%C3%A4%C3%B6%C3%BC%E4%B8%AD'],
  ['letters in pieces', 'a%CC%88'],
  ['an emoji', '%F0%9F%9A%80'],
  ['emojis that are one', '%F0%9F%91%A9%E2%80%8D%F0%9F%92%BB'],
  ['writing from right to left', '%E2%80%AEabc'],
  ['the last character there is', '%F4%8F%BF%BF'],
  ['a byte order mark', '%EF%BB%BFa'],
  ['markup', '%3Cscript%3Ealert(1)%3C%2Fscript%3E'],
  ['a template', '$%7Bx%7D%25s%7B%7By%7D%7D'],
  ['10,000 characters', 'x'.repeat(10_000)],
  ['a word of the API', 'service_bindings'],
  ['capitals', 'ABC'],
]

const body = JSON.stringify({ ...sync, ...place })
const fullBody = JSON.stringify({ ...full, ...place })

describe.each(['memory:', 'sqlite:'])('an id, kept in %s', scheme => {
  it.each(segments)('with %s is one id from its first day to its last', (_, segment) =>
    withStore(scheme, setup =>
      attacking(async target => {
        const id = decodeURIComponent(segment)
        // A binding's path is as long as both of its ids.
        const short = segment.length > 1000 ? segment.slice(0, 1000) : segment
        const paths = [instance(segment), binding(segment, short)] as const
        for (const path of paths)
          expect(await target.send({ method: 'PUT', path, body })).toMatchObject({ status: 201 })
        for (const path of paths) {
          expect(await target.send({ method: 'PUT', path, body })).toMatchObject({ status: 200 })
          expect(await target.send({ method: 'GET', path })).toMatchObject({ status: 200 })
          const polled = await target.send({ method: 'GET', path: `${path}/last_operation` })
          expect(polled).toMatchObject({ status: 200, body: { state: 'succeeded' } })
        }
        expect([...target.backend.things]).toEqual([`instance:${id}`, `binding:${decodeURIComponent(short)}`])
        expect(await target.store.instance(id)).toMatchObject({ id, phase: 'ready' })
        for (const path of [...paths].reverse())
          expect(await target.send({ method: 'DELETE', path: path + syncQuery })).toMatchObject({ status: 200 })
        expect([...target.backend.things]).toEqual([])
      }, setup),
    ),
  )

  // Every client of a URL folds a segment of dots away: such an id has no dashboard, and no platform.
  const linkable = segments.filter(([, segment]) => decodeURIComponent(segment) !== '..')

  it.each(linkable)('with %s: the URL of the first answer leads to the dashboard', (_, segment) =>
    withStore(scheme, setup =>
      attacking(async target => {
        const path = instance(segment)
        const accepted = await target.send({ method: 'PUT', path: `${path}?accepts_incomplete=true`, body: fullBody })
        expect(accepted.status).toBe(202)
        await target.ended(decodeURIComponent(segment))
        const { dashboard_url } = accepted.body as { dashboard_url: string }
        const opened = await target.send({ method: 'GET', path: new URL(dashboard_url).pathname })
        expect(opened.status).toBe(302)
        expect(opened.headers.location).toMatch(/^https:\/\/dashboard\.example\/[!-~]*$/)
        expect(opened.headers['set-cookie']).toBeUndefined()
      }, setup),
    ),
  )

  it('is told from others by every character', () =>
    withStore(scheme, setup =>
      attacking(async target => {
        const alike = ['a', 'A', 'a%01', 'a%20', '%20a', '%C3%A4', 'a%CC%88', '%EF%BB%BFa', 'a%2F', '%61%61']
        for (const segment of alike)
          expect(await target.send({ method: 'PUT', path: instance(segment), body })).toMatchObject({ status: 201 })
        expect(target.backend.things.size).toBe(alike.length)
        expect(await target.send({ method: 'PUT', path: instance('%61'), body })).toMatchObject({ status: 200 })
      }, setup),
    ))
})

describe('a path', () => {
  it('with NUL in an id: 400, since not every store can hold it', () =>
    attacking(async target => {
      for (const id of ['%00', 'a%00', '%00a', 'a%00b'])
        for (const path of [instance(id), binding('i', id), binding(id, 'b')]) {
          expectRefusal(await target.send({ method: 'PUT', path, body }), 400)
          expectRefusal(await target.send({ method: 'DELETE', path: path + syncQuery }), 400)
          expectRefusal(await target.send({ method: 'GET', path: `${path}/last_operation` }), 400)
        }
      expect(target.backend.done).toEqual([])
    }))

  it('that is longer than all headers together may be: 431', () =>
    attacking(async target => {
      const answer = await target.send({ method: 'PUT', path: instance('x'.repeat(20_000)), body })
      expectRefusal(answer, 431, 'HeadersTooLarge')
    }))

  it.each(['%', '%2', '%zz', '%C3', '%C3%28', '%E2%82', '%F0%9F%9A', '%ED%A0%80', '%C0%80', '%FF', 'a%u0041'])(
    'with the broken escape %s: 400, in an id and in the query',
    broken =>
      attacking(async target => {
        const paths = [
          instance(broken),
          `${instance(broken)}/last_operation`,
          binding('i', broken),
          binding(broken, 'b'),
        ]
        for (const path of paths)
          for (const method of ['GET', 'PUT', 'DELETE'])
            if (method === 'GET' || !path.endsWith('last_operation'))
              expectRefusal(await target.send({ method, path, ...(method === 'PUT' ? { body } : {}) }), 400)
        for (const query of [`service_id=${broken}`, `${broken}=1`, `operation=a&plan_id=${broken}`])
          for (const path of [instance('i'), `${instance('i')}/last_operation`, binding('i', 'b')])
            expectRefusal(await target.send({ method: 'GET', path: `${path}?${query}` }), 400)
        expectRefusal(await target.send({ method: 'GET', path: `/${broken}/v2/catalog` }), 404)
        expectRefusal(await target.send({ method: 'GET', path: `/dashboards/${broken}/token` }), 400)
      }),
  )

  it.each([
    '/v2/service_instances/',
    '/v2/service_instances//last_operation',
    '/v2/service_instances/i/service_bindings/',
  ])('%s without an id: 404', path =>
    attacking(async target => {
      expectRefusal(await target.send({ method: 'PUT', path, body }), 404)
      expectRefusal(await target.send({ method: 'GET', path }), 404)
    }),
  )

  it.each([
    '/',
    '/v2',
    '/v2/',
    '/v2/catalog/',
    '/v2/catalog/x',
    '/v3/catalog',
    '/v2/../v2/catalog',
    '/V2/catalog',
    '*',
    '/%76%32/catalog',
    '/.well-known/x',
    '//',
  ])('%s is nothing of ours: 404', path =>
    attacking(async target => expectRefusal(await target.send({ method: 'GET', path }), 404)),
  )

  it('with bytes that no URL has is refused or not found', () =>
    attacking(async target => {
      for (const path of [
        '/v2/service_instances/\u00e4',
        '/v2/service_instances/\u00ff\u0080',
        '/v2/a\u0001b',
        '/v2/a\tb',
        '/v2/a b',
        '/v2/catalog#x',
      ])
        expect([200, 400, 404]).toContain((await target.send({ method: 'GET', path })).status)
    }))
})

async function withStore(scheme: string, use: (setup: Setup) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'purser-ids-'))
  const clock = createVirtualClock()
  const store = await openStore(scheme === 'memory:' ? scheme : `sqlite:${join(folder, 'ledger.db')}`, clock)
  try {
    await use({ store, clock })
  } finally {
    await store.close()
    await rm(folder, { recursive: true })
  }
}
