import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { applyParam } from './param.ts'
import { readJsonOption, readParameters } from './parameters.ts'

describe('--param', () => {
  it.each([
    ['size=3', { size: 3 }],
    ['on=true', { on: true }],
    ['none=null', { none: null }],
    ['name=db', { name: 'db' }],
    ['name="3"', { name: '3' }],
    ['zip=007', { zip: '007' }],
    ['account=12345678901234567890', { account: '12345678901234567890' }],
    ['ratio=1.5', { ratio: 1.5 }],
    ['list=["a",1]', { list: ['a', 1] }],
    ['empty=', { empty: '' }],
    ['query=a=b', { query: 'a=b' }],
    ['limits.cpu.max=2', { limits: { cpu: { max: 2 } } }],
  ])('%s', (text, expected) => {
    expect(applyParam({}, text)).toEqual(expected)
  })

  it('adds to inner objects', () => {
    expect(['a.x=1', 'a.y=2', 'b=3'].reduce((before, text) => applyParam(before, text), {})).toEqual({
      a: { x: 1, y: 2 },
      b: 3,
    })
  })

  it.each(['', '=1', 'alone', 'a..b=1', '.a=1', 'a.=1'])('refuses %j', text => {
    expect(() => applyParam({}, text)).toThrow('--param needs a key and a value')
  })

  it('refuses an inner key of a plain value, and shows no value', () => {
    expect(() => applyParam({ a: 'secret' }, 'a.b=hidden')).toThrow(
      expect.objectContaining({ exitCode: 2, message: expect.not.stringMatching(/secret|hidden/) }),
    )
  })

  it('treats __proto__ as any other key', () => {
    const result = applyParam({}, '__proto__.polluted=1')
    expect(Object.keys(result)).toEqual(['__proto__'])
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    expect(applyParam({}, 'constructor.name=1')).toEqual({ constructor: { name: 1 } })
  })
})

describe('--param with the schema of a plan', () => {
  const schema = {
    $schema: 'http://json-schema.org/draft-04/schema#',
    type: 'object',
    properties: {
      version: { type: 'string' },
      release: { enum: ['9.6', '10'] },
      either: { type: ['string', 'number'] },
      size: { type: 'integer', maximum: 100 },
      limits: { type: 'object', properties: { 'a/b': { $ref: '#/definitions/text' } } },
      padded: { type: 'string', default: 'x' },
    },
    required: ['size', 'version'],
    definitions: { text: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
  }

  it.each([
    [['version=9.6'], { version: '9.6' }],
    [['version=true', 'size=3'], { version: 'true', size: 3 }],
    [['version={"a":1}'], { version: '{"a":1}' }],
    [['release=10'], { release: '10' }],
    [['either=9.6'], { either: 9.6 }],
    [['limits.a/b=1', 'limits.c=1'], { limits: { 'a/b': '1', c: 1 } }],
    [['limits.a/b=null'], { limits: { 'a/b': null } }],
    // Wrong both ways: the broker says so, about the number that was meant.
    [['size=500'], { size: 500 }],
    [['unknown=1.0'], { unknown: 1 }],
  ])('%j', async (param, expected) => {
    const { typedBy } = await readParameters({ param }, '/')
    expect(await typedBy(schema)).toEqual(expected)
  })

  it('without a schema, or with one that cannot be read, JSON where it parses', async () => {
    const { typedBy } = await readParameters({ params: '{"a":1}', param: ['version=9.6'] }, '/')
    expect(await typedBy(undefined)).toEqual({ a: 1, version: 9.6 })
    expect(await typedBy({ $schema: 'http://example.com/mine' })).toEqual({ a: 1, version: 9.6 })
    const { typedBy: none } = await readParameters({}, '/')
    expect(await none(schema)).toBeUndefined()
  })
})

describe('--params and --context', () => {
  it('--params comes first, --param over it', async () => {
    expect(await readParameters({ params: '{"a":1,"b":{"c":2}}', param: ['a=5', 'b.d=3'] }, '/')).toMatchObject({
      parameters: { a: 5, b: { c: 2, d: 3 } },
    })
    expect(await readParameters({ context: '{}' }, '/')).toMatchObject({ parameters: undefined, context: {} })
  })

  it('reads a file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'purser-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await writeFile(join(folder, 'a.json'), '{"from":"file"}')
    expect(await readJsonOption('--params', '@a.json', folder)).toEqual({ from: 'file' })
    await expect(readJsonOption('--params', '@b.json', folder)).rejects.toMatchObject({ exitCode: 2 })
  })

  it.each(['', '[]', '1', 'null', '{'])('refuses %j', async text => {
    await expect(readJsonOption('--context', text, '/')).rejects.toMatchObject({
      exitCode: 2,
      what: '--context is not a JSON object',
    })
  })
})
