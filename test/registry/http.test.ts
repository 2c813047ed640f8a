import { afterEach, describe, expect, it } from 'vitest'
import { parseBundleSpec } from '../../src/bundle/spec.ts'
import { type Front, startFront } from './front.ts'
import { ask } from './settings-for.ts'

const yaml = `
- version: 1.0
  name: pg
  description: PostgreSQL
  image: registry.example:5000/team/pg:v2
  runtime: 1
  plans: &plans
    - name: default
      description: Default
      free: true
      parameters:
        - { name: release, type: enum, enum: [1.9, 1.10], default: 1.10 }
- { version: 1.0, name: my, description: MySQL, image: team/my, plans: *plans }
`

describe('a list of specs by HTTP', () => {
  const fronts: Front[] = []
  afterEach(async () => {
    for (const front of fronts.splice(0)) await front.stop()
  })

  const serve = async (body: string, status = 200) => {
    const front = await startFront(0, (_, outgoing) => {
      outgoing.writeHead(status).end(body)
      return true
    })
    fronts.push(front)
    return front
  }
  const list = async (body: string, more: Readonly<Record<string, unknown>> = {}) =>
    ask({ type: 'http', url: `${(await serve(body)).url}/specs`, ...more })

  it('is read from YAML, and each spec stays as it was written', async () => {
    const answer = await list(yaml)
    expect(answer).toMatchObject({
      kind: 'complete',
      found: [
        { name: 'pg', image: 'registry.example:5000/team/pg:v2', tag: 'v2', runtime: 1 },
        { name: 'my', image: 'team/my', tag: 'latest', runtime: 2 },
      ],
      problems: [],
    })
    if (answer.kind === 'failed') return
    for (const { source, digest } of answer.found) {
      const { spec, problems } = parseBundleSpec(source, 'x')
      expect(problems.filter(({ severity }) => severity === 'error')).toEqual([])
      expect(spec?.plans[0]?.parameters).toMatchObject({ list: [{ enum: ['1.9', '1.10'], default: '1.10' }] })
      expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/)
    }
    expect(new Set(answer.found.map(({ digest }) => digest)).size).toBe(2)
  })

  it('is read from JSON, also below "apps", through the lists', async () => {
    const apps = [
      { name: 'a', image: 'i' },
      { name: 'b', image: 'i' },
    ]
    const answer = await list(JSON.stringify({ apps }), { white_list: ['b'] })
    expect(answer).toMatchObject({ kind: 'complete', found: [{ name: 'b', source: '{"name":"b"}' }] })
  })

  it('is partial where an entry cannot be used, and names it', async () => {
    const entries = [
      { name: 'a', image: 'i' },
      { name: 'a', image: 'j' },
      { name: 'b' },
      {},
      { name: 'c', image: 'i', runtime: 9 },
    ]
    expect(await list(JSON.stringify(entries))).toMatchObject({
      kind: 'partial',
      found: [{ name: 'a', image: 'i' }],
      problems: [
        expect.stringContaining('a: it is in the list twice'),
        expect.stringContaining('b: it has no image'),
        expect.stringContaining('entry 4 has no name'),
        expect.stringContaining('c: its runtime'),
      ],
    })
  })

  it.each([
    ['empty', ''],
    ['no list', 'name: x'],
    ['no YAML', '{"a": ['],
    ['nested deeply', '- '.repeat(60_000)],
    [
      'full of aliases',
      `a: &a [x,x,x,x,x,x,x,x,x,x]\n${'bcdefgh'.replaceAll(/./g, c => `${c}: &${c} [${`*${String.fromCharCode(c.charCodeAt(0) - 1)},`.repeat(10)}]\n`)}apps: *h`,
    ],
    ['nested deeply in JSON', `${'['.repeat(60_000)}${']'.repeat(60_000)}`],
    ['YAML that is too long', `- { name: a, image: i }\n${' '.repeat(1024 * 1024)}`],
    ['JSON that is cut off and too long for YAML', `[${' '.repeat(1024 * 1024)}`],
    ['of too many values', `[${'{},'.repeat(3_000_000)}{}]`],
    ['too long', ' '.repeat(64 * 1024 * 1024 + 1)],
  ])('has failed where it is %s', async (_, body) => {
    expect(await list(body)).toMatchObject({ kind: 'failed' })
  })

  it('may have tens of thousands of specs in JSON, each the same text again', async () => {
    const filler = 'What this plan is for, in words. '.repeat(40)
    const entry = (index: number) => {
      const plan = { name: 'default', description: filler, parameters: [{ name: 'release', type: 'string' }] }
      return { version: 1, name: `s${index}`, description: 'S', image: `r.example/s${index}:v1`, plans: [plan] }
    }
    // With a byte order mark, as some servers send it.
    const body = `\uFEFF${JSON.stringify({ apps: Array.from({ length: 20_000 }, (_, index) => entry(index)) })}`
    expect(body.length).toBeGreaterThan(20 * 1024 * 1024)
    const { url } = await serve(body)
    const first = await ask({ type: 'http', url })
    expect(first).toMatchObject({ kind: 'complete', problems: [] })
    if (first.kind === 'failed') return
    const { image: _, ...spec } = entry(19_999)
    expect(first.found.at(-1)).toMatchObject({ image: 'r.example/s19999:v1', tag: 'v1', source: JSON.stringify(spec) })
    expect(new Set(first.found.map(({ digest }) => digest)).size).toBe(20_000)
    expect(await ask({ type: 'http', url })).toEqual(first)
  })

  it('keeps the keys that JSON has and objects have not', async () => {
    const answer = await list('[{ "name": "a", "image": "i", "__proto__": { "runtime": 1 } }]')
    expect(answer).toMatchObject({ found: [{ source: '{"name":"a","__proto__":{"runtime":1}}', runtime: 2 }] })
    expect(answer.kind !== 'failed' && parseBundleSpec(answer.found[0]?.source, 'x').problems).toMatchObject([
      { problem: expect.stringContaining('__proto__') },
    ])
  })

  it('has failed where it is not there', async () => {
    const { url } = await serve('[]', 404)
    expect(await ask({ type: 'http', url })).toMatchObject({ kind: 'failed', problem: expect.stringContaining('404') })
  })

  it('is asked with credentials', async () => {
    const front = await serve('[]')
    await ask({ type: 'http', url: front.url, user: 'u', pass: 'p' })
    await ask({ type: 'http', url: front.url, token: 't' })
    expect(front.seen.map(({ authorization }) => authorization)).toEqual([
      `Basic ${Buffer.from('u:p').toString('base64')}`,
      'Bearer t',
    ])
  })
})
