import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkBundle } from '../../src/bundle/check-bundle.ts'
import { type Front, startFront } from './front.ts'
import { sha256 } from './push.ts'
import { ask } from './settings-for.ts'

const values = 'replicas: 1\nimage:\n  tag: "1.10"\n'

describe('a repository of Helm charts', () => {
  let folder = ''
  let front: Front
  let index = ''
  const files = new Map<string, Buffer>()

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'purser-helm-'))
    mkdirSync(join(folder, 'redis/templates'), { recursive: true })
    mkdirSync(join(folder, 'redis/charts/inner'), { recursive: true })
    writeFileSync(join(folder, 'redis/charts/inner/values.yaml'), 'not: these')
    writeFileSync(join(folder, 'redis/values.yaml'), values)
    const tgz = join(folder, 'redis.tgz')
    // With the archiver that people have, in the order in which the wrong file comes first.
    execFileSync('tar', ['-czf', tgz, '-C', folder, 'redis/charts', 'redis/templates', 'redis/values.yaml'])
    files.set('/charts/redis-2.0.0.tgz', readFileSync(tgz))
    front = await startFront(0, ({ url = '' }, outgoing) => {
      const body = url === '/charts/index.yaml' ? index : files.get(url)
      outgoing.writeHead(body === undefined ? 404 : 200).end(body)
      return true
    })
  })
  afterAll(async () => {
    await front?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const archive = () => files.get('/charts/redis-2.0.0.tgz') ?? Buffer.alloc(0)
  const digest = () => sha256(archive())
  const entry = (more = '') => `
apiVersion: v1
entries:
  redis:
    - { version: 1.9.0, urls: [redis-1.9.0.tgz] }
    - { version: 2.1.0-rc.1, urls: [redis-2.1.0.tgz] }
    - { version: 2.0.0, description: A cache, urls: [redis-2.0.0.tgz], digest: ${digest().slice(7)} }
    - { version: 1.10.0, urls: [redis-1.10.0.tgz] }
${more}`
  const list = (text: string) => {
    index = text
    return ask({ type: 'helm', url: `${front.url}/charts/`, runner: 'runners.example/helm:v3' })
  }

  it('has a service for each chart, which the runner deploys', async () => {
    const answer = await list(entry())
    expect(answer).toMatchObject({
      kind: 'complete',
      found: [{ name: 'redis', image: 'runners.example/helm:v3', tag: 'v3', digest: digest(), runtime: 2 }],
      problems: [],
    })
    const source = answer.kind === 'failed' ? '' : answer.found[0]?.source
    const { bundle, problems } = await checkBundle(source, { where: 'redis', registry: 'r' })
    expect(problems).toEqual([])
    expect(bundle?.spec).toMatchObject({
      name: 'redis',
      description: 'A cache',
      bindable: false,
      metadata: { displayName: 'redis (Helm)' },
      plans: [
        {
          name: 'default',
          parameters: {
            list: [
              { name: 'repo', default: `${front.url}/charts`, updatable: false },
              { name: 'chart', default: 'redis', pattern: '^redis$', updatable: false },
              { name: 'version', enum: ['2.1.0-rc.1', '2.0.0', '1.10.0', '1.9.0'], default: '2.0.0', updatable: true },
              { name: 'values', default: values, displayType: 'textarea', updatable: true },
            ],
          },
        },
      ],
    })
  })

  it.each([
    ['is not there', 'version: 1.0.0, urls: [gone.tgz]', '404'],
    ['has no place', 'version: 1.0.0', 'does not say where'],
    ['is another one', `version: 1.0.0, urls: [redis-2.0.0.tgz], digest: ${'0'.repeat(64)}`, 'digest'],
    ['is not an archive', 'version: 1.0.0, urls: [text.tgz]', 'not gzip'],
    ['is not a tar', 'version: 1.0.0, urls: [random.tgz]', 'not a tar'],
    ['is cut off', 'version: 1.0.0, urls: [cut.tgz]', 'cut off'],
    ['is a bomb', 'version: 1.0.0, urls: [bomb.tgz]', 'more than'],
    ['is on a disk', 'version: 1.0.0, urls: ["file:///etc/passwd"]', 'not read'],
  ])('is partial where an archive %s', async (_, release, message) => {
    const header = Buffer.alloc(512)
    header.write('c/values.yaml', 0)
    header.write('00000777777\0', 124)
    header.write('        ', 148)
    header.write(
      `${header
        .reduce((sum, byte) => sum + byte, 0)
        .toString(8)
        .padStart(6, '0')}\0 `,
      148,
    )
    files.set('/charts/text.tgz', Buffer.from('text'))
    files.set('/charts/random.tgz', gzipSync(Buffer.alloc(2048, 'x')))
    files.set('/charts/cut.tgz', gzipSync(header))
    if (release.includes('bomb')) files.set('/charts/bomb.tgz', gzipSync(Buffer.alloc(65 * 1024 * 1024)))
    const answer = await list(entry(`  other:\n    - { ${release} }\n`))
    expect(answer).toMatchObject({ kind: 'partial', found: [{ name: 'redis' }] })
    expect(answer).toMatchObject({ problems: [expect.stringMatching(/^other: /)] })
    expect(answer).toMatchObject({ problems: [expect.stringContaining(message)] })
  })

  it.each([
    ['is not an index', 'apiVersion: v1'],
    ['is no YAML', '{'],
    ['is nested deeply', '- '.repeat(60_000)],
  ])('has failed where the index %s', async (_, text) => {
    expect(await list(text)).toEqual({ kind: 'failed', problem: expect.stringContaining('not an index of charts') })
  })
})
