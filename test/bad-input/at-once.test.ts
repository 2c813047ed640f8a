import { describe, expect, it } from 'vitest'
import { full, org } from '../conformance/services.ts'
import { attacking, binding, instance, place, sync, syncQuery, type Target } from './target.ts'

const fifty = Array.from({ length: 50 }, (_, index) => index)

/** Waits, turn by turn, until something that a request in flight brings about is true. */
async function until(check: () => Promise<boolean>): Promise<void> {
  while (!(await check())) await new Promise(setImmediate)
}

describe('fifty at once', () => {
  it('equal asynchronous PUTs: one instance, one operation, the same answer for all', () =>
    attacking(async target => {
      const release = target.backend.hold('provision')
      const path = `${instance('i')}?accepts_incomplete=true`
      const answers = await Promise.all(fifty.map(() => target.request('PUT', path, { body: { ...full, ...org } })))
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
      release()
      expect(await target.ended('i', undefined, String(answers[0]?.body.operation))).toMatchObject({
        state: 'succeeded',
      })
      expect(target.backend.done).toEqual(['provision i'])
      expect(await target.store.history('i')).toHaveLength(2)
    }))

  it('equal synchronous PUTs: one instance, and all hear of the same one', () =>
    attacking(async target => {
      const release = target.backend.hold('provision')
      const answers = Promise.all(
        fifty.map(() => target.request('PUT', instance('i'), { body: { ...sync, ...place } })),
      )
      await until(async () => (await target.store.instance('i')) !== undefined)
      release()
      for (const { status, text } of await answers) {
        expect([200, 201]).toContain(status)
        expect(text).toBe((await answers)[0]?.text)
      }
      expect((await answers).some(({ status }) => status === 201)).toBe(true)
      expect(target.backend.done).toEqual(['provision i'])
    }))

  it('PUTs that differ: the first one counts, the others are conflicts', () =>
    attacking(async target => {
      const path = `${instance('i')}?accepts_incomplete=true`
      const answers = await Promise.all(
        fifty.map(index =>
          target.request('PUT', path, { body: { ...full, ...org, parameters: { name: `n${index}` } } }),
        ),
      )
      expect(answers.map(({ status }) => status).sort()).toEqual([202, ...Array(49).fill(409)])
      await target.ended('i')
      const winner = answers.findIndex(({ status }) => status === 202)
      const { body } = await target.request('GET', instance('i'))
      expect(body).toMatchObject({ parameters: { name: `n${winner}` } })
      expect(target.backend.done).toEqual(['provision i'])
    }))

  it('equal binds and then unbinds: one binding, made once and removed once', () =>
    attacking(async target => {
      await target.request('PUT', instance('i'), { body: { ...sync, ...place } })
      const bound = await Promise.all(fifty.map(() => target.request('PUT', binding('i', 'b'), { body: sync })))
      expect(bound.filter(({ status }) => status !== 200 && status !== 201)).toEqual([])
      expect(new Set(bound.map(({ text }) => text)).size).toBe(1)
      const unbound = await Promise.all(fifty.map(() => target.request('DELETE', binding('i', 'b') + syncQuery)))
      expect(unbound.filter(({ status }) => status !== 200 && status !== 410)).toEqual([])
      expect(unbound.some(({ status }) => status === 200)).toBe(true)
      expect(target.backend.done).toEqual(['provision i', 'bind b', 'unbind b'])
    }))

  it('different binds of one instance: all of them', () =>
    attacking(async target => {
      await target.request('PUT', instance('i'), { body: { ...sync, ...place } })
      const bound = await Promise.all(
        fifty.map(index => target.request('PUT', binding('i', `b${index}`), { body: sync })),
      )
      expect(new Set(bound.map(({ status }) => status))).toEqual(new Set([201]))
      expect(target.backend.things.size).toBe(51)
    }))

  it('DELETEs of an instance: one deletion, the same operation for all that came in time', () =>
    attacking(async target => {
      await provisioned(target)
      const release = target.backend.hold('deprovision')
      const path = `${instance('i')}?service_id=full&plan_id=full-small&accepts_incomplete=true`
      const answers = await Promise.all(fifty.map(() => target.request('DELETE', path)))
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
      expect(answers[0]?.status).toBe(202)
      release()
      await target.ended('i')
      expect(target.backend.done).toEqual(['provision i', 'deprovision i'])
      expect([...target.backend.things]).toEqual([])
    }))

  it('updates that differ: one at a time, and each that was taken is carried out', () =>
    attacking(async target => {
      await provisioned(target)
      const path = `${instance('i')}?accepts_incomplete=true`
      const release = target.backend.hold('update')
      const answers = await Promise.all(
        fifty.map(index =>
          target.request('PATCH', path, { body: { service_id: 'full', parameters: { name: `n${index}` } } }),
        ),
      )
      expect(answers.map(({ status }) => status).sort()).toEqual([202, ...Array(49).fill(422)])
      for (const { status, body } of answers) if (status === 422) expect(body.error).toBe('ConcurrencyError')
      release()
      await target.ended('i')
      expect(target.backend.done).toEqual(['provision i', 'update i'])
    }))
})

async function provisioned(target: Target): Promise<void> {
  const { status } = await target.request('PUT', instance('i'), { body: { ...full, ...org } })
  expect(status).toBe(201)
}
