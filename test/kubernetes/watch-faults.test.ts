import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { connectCluster } from '../../src/kubernetes/cluster.ts'
import { watchObjects } from '../../src/kubernetes/watch.ts'
import { type Canned, startCannedServer } from './canned-server.ts'

const list = (version: string, ...names: readonly string[]): Canned => ({
  status: 200,
  body: { metadata: { resourceVersion: version }, items: names.map(name => ({ metadata: { name } })) },
})

const events =
  (...lines: readonly string[]): Canned =>
  (_request, response) =>
    response.end(lines.map(line => `${line}\n`).join(''))

const added = (name: string, version: string) =>
  JSON.stringify({ type: 'ADDED', object: { metadata: { name, resourceVersion: version } } })

const expired = '{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","metadata":{}}}'

async function watchFrom(answers: readonly Canned[], enough: (seen: readonly string[]) => boolean) {
  const server = await startCannedServer(answers)
  const folder = mkdtempSync(join(tmpdir(), 'purser-canned-'))
  writeFileSync(join(folder, 'kubeconfig'), server.kubeconfig)
  const cluster = await connectCluster({ kubeconfig: join(folder, 'kubeconfig') }, { clock: systemClock, env: {} })
  rmSync(folder, { recursive: true })
  const stop = new AbortController()
  // What never comes is seen to be missing by what has come until then.
  const patience = setTimeout(() => stop.abort(), 15_000)
  const seen: string[] = []
  const note = (text: string) => {
    seen.push(text)
    if (enough(seen)) stop.abort()
  }
  await watchObjects(
    cluster,
    { path: '/api/v1/pods', signal: stop.signal },
    {
      onList: items => note(`list ${items.map(({ metadata }) => metadata.name).join(' ')}`),
      onChange: ({ metadata }) => note(`change ${metadata.name}`),
      onGone: ({ metadata }) => note(`gone ${metadata.name}`),
    },
  )
  clearTimeout(patience)
  const asked = server.requests.map(line => new URL(line.split(' ')[1] ?? '', 'http://x').searchParams)
  await server.close()
  return { seen, asked }
}

const hold: Canned = (_request: unknown, response: ServerResponse) => void response.flushHeaders()

describe('a watch, when things go wrong', () => {
  it('goes on where it was after a closed connection', async () => {
    const { seen, asked } = await watchFrom(
      [list('5', 'a'), events(added('b', '6')), events(added('c', '9')), hold],
      all => all.includes('change c'),
    )
    expect(seen).toEqual(['list a', 'change b', 'change c'])
    expect(asked.map(query => query.get('resourceVersion'))).toEqual([null, '5', '6'])
  })

  it('lists anew where its version has expired', async () => {
    const { seen } = await watchFrom([list('5', 'a'), events(added('b', '6'), expired), list('9', 'c'), hold], all =>
      all.includes('list c'),
    )
    expect(seen).toEqual(['list a', 'change b', 'list c'])
  })

  it('lists anew after a 410 in place of an answer', async () => {
    const { seen } = await watchFrom(
      [list('5', 'a'), { status: 410, body: { reason: 'Expired' } }, list('9', 'c'), hold],
      all => all.includes('list c'),
    )
    expect(seen).toEqual(['list a', 'list c'])
  })

  it('does not ask at once again and again where connections are closed at once', async () => {
    const began = performance.now()
    const closed = Array.from({ length: 3 }, () => events())
    const { asked } = await watchFrom([list('5', 'a'), ...closed, events(added('b', '6')), hold], all =>
      all.includes('change b'),
    )
    expect(asked.length).toBe(5)
    expect(performance.now() - began).toBeGreaterThan(50)
  })

  it('takes nothing from a line that was cut off', async () => {
    const cut: Canned = (_request, response) => response.end(added('b', '6').slice(0, 30))
    const { seen } = await watchFrom([list('5', 'a'), cut, events(added('b', '6')), hold], all =>
      all.includes('change b'),
    )
    expect(seen).toEqual(['list a', 'change b'])
  })
})
