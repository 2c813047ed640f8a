import { describe, expect, it } from 'vitest'
import { attacking, binding, expectRefusal, instance, place, sync, type Target } from './target.ts'

const good = JSON.stringify({ ...sync, ...place })

/** Every endpoint that reads a body, for an instance that is there. */
const endpoints = [
  ['PUT', instance('i')],
  ['PATCH', instance('i')],
  ['PUT', binding('i', 'b')],
] as const

async function expectRefused(target: Target, body: string | Uint8Array, more: object = {}): Promise<void> {
  const history = await target.store.history('i')
  for (const [method, path] of endpoints) expectRefusal(await target.send({ method, path, body, ...more }), 400)
  expect(await target.store.history('i')).toEqual(history)
}

describe('a body that is not a JSON object', () => {
  it('is refused with 400, and changes nothing', () =>
    attacking(async target => {
      expect(await target.send({ method: 'PUT', path: instance('i'), body: good })).toMatchObject({ status: 201 })
      const texts = [
        '',
        ' ',
        '{',
        '{"a"}',
        '{"a":1,}',
        "{'a':1}",
        '{a:1}',
        'nonsense',
        '\u0000',
        `${good}x`,
        good + good,
      ]
      const values = ['null', 'true', '1', '"text"', '[]', `[${good}]`, 'NaN', 'undefined', '1e400']
      for (const body of [...texts, ...values, good.slice(0, -1)]) await expectRefused(target, body)
    }))

  it('nor text in another encoding', () =>
    attacking(async target => {
      const utf16 = Buffer.from(`\ufeff${good}`, 'utf16le')
      const latin1 = Buffer.from('{"service_id":"\u00e9"}', 'latin1')
      const broken = Buffer.concat([Buffer.from(good.slice(0, -2)), Buffer.from([0xf0, 0x9f]), Buffer.from('"}')])
      const surrogate = Buffer.from([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d])
      for (const body of [utf16, latin1, broken, surrogate]) await expectRefused(target, body)
    }))
})

describe('numbers and keys', () => {
  const taken = async (target: Target, id: string, parameters: string) => {
    const body = `${good.slice(0, -1)},"parameters":${parameters}}`
    return target.send({ method: 'PUT', path: instance(id), body })
  }

  it.each(['1e400', '-1e400', '1e0000400', `1${'0'.repeat(400)}`, '[[{"a":[1,1e309]}]]', '{"a":{"b":-1.8e308}}'])(
    'a number that is too large is refused with 400: %s',
    number =>
      attacking(async target => {
        await target.send({ method: 'PUT', path: instance('i'), body: good })
        for (const field of ['parameters', 'context', 'unknown'])
          await expectRefused(target, `${good.slice(0, -1)},"${field}":{"n":${number}}}`)
      }),
  )

  it('the largest, the smallest and minus zero are kept, and the same request again is the same', () =>
    attacking(async target => {
      const numbers = '{"n":[1.7976931348623157e308,5e-324,1e-400,-0,1E+2]}'
      expect(await taken(target, 'i', numbers)).toMatchObject({ status: 201 })
      expect(await taken(target, 'i', numbers)).toMatchObject({ status: 200 })
      expect(await taken(target, 'i', numbers.replace('-0', '0'))).toMatchObject({ status: 200 })
      const { body } = await target.send({ method: 'GET', path: instance('i') })
      expect(body).toMatchObject({ parameters: { n: [1.7976931348623157e308, 5e-324, 0, 0, 100] } })
    }))

  it('of a key that is given twice the last one counts, everywhere', () =>
    attacking(async target => {
      expect(await taken(target, 'i', '{"a":1,"a":{"b":2,"b":3}}')).toMatchObject({ status: 201 })
      expect(await taken(target, 'i', '{"a":{"b":3}}')).toMatchObject({ status: 200 })
      expect((await target.send({ method: 'GET', path: instance('i') })).body).toMatchObject({
        parameters: { a: { b: 3 } },
      })
    }))
})

describe('a content type', () => {
  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'application/jsonp',
    'json',
    ';',
    '/',
  ])('%s is refused with 400', type =>
    attacking(target => expectRefused(target, good, { headers: [['Content-Type', type]] })),
  )

  it('of JSON is taken, however it is written, and an empty one as well', () =>
    attacking(async target => {
      const types = ['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/merge-patch+json', '']
      for (const [index, type] of types.entries()) {
        const headers = [['Content-Type', type]] as const
        const answer = await target.send({ method: 'PUT', path: instance(`i${index}`), body: good, headers })
        expect(answer).toMatchObject({ status: 201 })
      }
    }))
})

describe('a body that is too much', () => {
  const large = JSON.stringify({ ...sync, ...place, parameters: { text: 'x'.repeat(10 * 1024 * 1024) } })

  it.each([
    ['with its length', {}],
    ['in chunks', { chunked: 65_536 }],
    ['in one chunk', { chunked: large.length }],
  ])('10 MB %s: 413, and nothing is kept', (_, framing) =>
    attacking(async target => {
      for (const [method, path] of endpoints)
        expectRefusal(await target.send({ method, path, body: large, ...framing }), 413, 'PayloadTooLarge')
      expect(await target.store.instance('i')).toBeUndefined()
    }),
  )

  it('just below the limit is taken, stored and given back', () =>
    attacking(async target => {
      const parameters = { text: 'é'.repeat(500_000) }
      const body = JSON.stringify({ ...sync, ...place, parameters })
      expect(await target.send({ method: 'PUT', path: instance('i'), body })).toMatchObject({ status: 201 })
      expect((await target.send({ method: 'GET', path: instance('i') })).body).toMatchObject({ parameters })
    }))

  it.each([
    ['arrays', '[', ']'],
    ['objects', '{"a":', '}'],
    ['both', '{"a":[', ']}'],
    ['arrays that never end', '[', ''],
  ])('100,000 levels of %s: 400', (_, open, close) =>
    attacking(async target => {
      const deep = open.repeat(100_000) + (close === '' ? '' : '1') + close.repeat(100_000)
      await expectRefused(target, deep)
      for (const field of ['parameters', 'context', 'unknown', 'bind_resource', 'maintenance_info', 'previous_values'])
        await expectRefused(target, `${good.slice(0, -1)},"${field}":${deep}}`)
    }),
  )

  it('brackets in a string are not levels', () =>
    attacking(async target => {
      const parameters = { text: `\\"${'[{'.repeat(100_000)}` }
      const body = JSON.stringify({ ...sync, ...place, parameters })
      expect(await target.send({ method: 'PUT', path: instance('i'), body })).toMatchObject({ status: 201 })
      expect((await target.send({ method: 'GET', path: instance('i') })).body).toMatchObject({ parameters })
    }))

  it('50,000 keys are served', () =>
    attacking(async target => {
      const parameters = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`k${index}`, index]))
      const body = JSON.stringify({ ...sync, ...place, parameters })
      expect(await target.send({ method: 'PUT', path: instance('i'), body })).toMatchObject({ status: 201 })
      expect((await target.send({ method: 'GET', path: instance('i') })).body).toMatchObject({ parameters })
    }))
})
