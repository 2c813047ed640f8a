/** Images that stay, with an engine that refuses what a test wants it to; test/sandbox/container-pull.test.ts has real ones. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createEngine } from '../../src/sandbox/container/engine.ts'
import { keepImages } from '../../src/sandbox/container/keep-images.ts'
import { until } from '../../src/testing/sandbox-contract/subject.ts'

let folder: string
let server: Server
/** By the end of the path: what is answered in the place of what would be right. */
let refusals: Record<string, number>
let asked: string[]
let names: string[]
/** Pulls that have begun and are not answered. */
let pulls: (() => void)[] | undefined

const imageOf = (letter: string) => `r/${letter}@sha256:${letter.repeat(64)}`
const programsOf = (letters: string) =>
  [...letters].map(letter => ({ kind: 'image', image: imageOf(letter), pull: 'if-missing' }) as const)
const keep = (letters: string, signal = new AbortController().signal) =>
  keepImages(createEngine(join(folder, 'socket')), { owner: 'me', programs: programsOf(letters), signal })

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'purser-engine-'))
  refusals = {}
  asked = []
  names = []
  pulls = undefined
  server = createServer(({ url = '', method }, answer) => {
    const path = decodeURIComponent(url).replace(/^\/v[\d.]+/, '')
    answer.setHeader('api-version', '1.47')
    if (path === '/_ping') return answer.end()
    asked.push(`${method} ${path}`)
    const [, refused] = Object.entries(refusals).find(([part]) => `${method} ${path}`.includes(part)) ?? []
    if (refused !== undefined) answer.statusCode = refused
    else if (path.includes('/tag?')) answer.statusCode = 201
    if (path.startsWith('/images/json')) return answer.end(JSON.stringify([{ RepoTags: names }, { RepoTags: null }]))
    if (path.startsWith('/images/create') && pulls !== undefined) return pulls.push(() => answer.end('{}'))
    return answer.end('{}')
  })
  await once(server.listen(join(folder, 'socket')), 'listening')
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

const named = () => asked.filter(line => line.includes('/tag?')).map(line => line.replace(/^.*tag=(.).*$/, '$1'))
const removed = () => asked.filter(line => line.startsWith('DELETE'))

it('names what has no name, and removes names that nobody needs, of this owner only', async () => {
  await keep('a')
  const repository = /repo=([^&]*)/.exec(asked.find(line => line.includes('/tag?')) ?? '')?.[1]
  names = ['r/b:1', 'localhost/purser-kept/another:ffff', ...['a', 'b'].map(each => `${repository}:${each.repeat(64)}`)]
  asked.length = 0
  expect(await keep('ac')).toEqual([])
  expect(named()).toEqual(['c'])
  expect(removed()).toEqual([`DELETE /images/${repository}:${'b'.repeat(64)}`])
  // One that is gone already, or runs, is no failure.
  for (const status of [404, 409]) {
    refusals = { DELETE: status }
    expect(await keep('ac')).toEqual([])
  }
  refusals = { DELETE: 500 }
  asked.length = 0
  expect(await keep('ac')).toMatchObject([{ image: names[3], error: { name: 'RuntimeUnavailableError' } }])
  expect(named()).toEqual(['c'])
})

it('goes on with the others where one cannot be pulled or named', async () => {
  refusals = { [`${imageOf('a')}/json`]: 404, [`fromImage=${imageOf('a')}`]: 404, [`${imageOf('b')}/tag`]: 500 }
  const notKept = await keep('abc')
  expect(new Map(notKept.map(({ image, error }) => [image, error.name]))).toEqual(
    new Map([
      [imageOf('a'), 'SandboxRefusedError'],
      [imageOf('b'), 'RuntimeUnavailableError'],
    ]),
  )
  expect(named()).toContain('c')
})

it('does nothing where the engine lists nothing', async () => {
  refusals = { 'GET /images/json': 500 }
  await expect(keep('a')).rejects.toMatchObject({ name: 'RuntimeUnavailableError' })
  expect(asked).toHaveLength(1)
})

it('pulls two at a time, and none when it is stopped', async () => {
  const stopping = new AbortController()
  pulls = []
  for (const letter of 'abcd') refusals[`${imageOf(letter)}/json`] = 404
  const kept = keep('abcd', stopping.signal)
  await until(async () => (pulls?.length ?? 0) >= 2 || undefined)
  // Every other image would have been looked for by now: the engine answers in the order of the questions.
  await fetchList()
  expect(asked.filter(line => line.includes('/json') && line.includes('sha256'))).toHaveLength(2)
  stopping.abort(new Error('stopped'))
  await expect(kept).rejects.toThrow('stopped')
  expect(pulls).toHaveLength(2)
})

async function fetchList(): Promise<void> {
  const { stream } = await createEngine(join(folder, 'socket')).call('GET', '/images/json')
  stream.resume()
}
