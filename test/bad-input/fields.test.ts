import { describe, expect, it } from 'vitest'
import { attacking, binding, expectRefusal, instance, place, sync, syncQuery, type Target } from './target.ts'

/** Every kind of JSON value, by name. */
const values = {
  number: 1,
  string: 'text',
  array: ['text'],
  object: { key: 'value' },
  null: null,
  bool: true,
  'empty string': '',
} as const

type Kind = keyof typeof values

/** Which status each kind of value gets in a field; 400 where a kind is not named. */
type Expected = Partial<Record<Kind, number>>

const any = (status: number): Expected =>
  Object.fromEntries(Object.keys(values).map(kind => [kind, status])) as Expected
const text = (status: number): Expected => ({ string: status, null: status, 'empty string': status })
const object = (status: number): Expected => ({ object: status, null: status })
const version = (status: number): Expected => ({ ...text(status), string: 422 })

const endpoints: readonly {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly good: Readonly<Record<string, unknown>>
  /** A name with a dot is a field of an object field. */
  readonly fields: Readonly<Record<string, Expected>>
}[] = [
  {
    name: 'provision',
    method: 'PUT',
    path: instance('new'),
    good: { ...sync, ...place },
    fields: {
      service_id: {},
      plan_id: {},
      organization_guid: { string: 201 },
      space_guid: { string: 201 },
      context: object(201),
      'context.organization_guid': any(201),
      'context.platform': any(201),
      parameters: object(201),
      'parameters.anything': any(201),
      maintenance_info: object(201),
      'maintenance_info.version': version(201),
      'maintenance_info.description': any(201),
      previous_values: any(201),
      of_a_later_version: any(201),
    },
  },
  {
    name: 'update',
    method: 'PATCH',
    path: instance('old'),
    good: { service_id: sync.service_id },
    fields: {
      service_id: {},
      plan_id: { ...text(200), string: 400 },
      context: object(200),
      'context.organization_guid': any(200),
      parameters: object(200),
      'parameters.anything': any(200),
      previous_values: object(200),
      'previous_values.plan_id': any(200),
      'previous_values.maintenance_info': any(200),
      maintenance_info: object(200),
      'maintenance_info.version': version(200),
      organization_guid: any(200),
      of_a_later_version: any(200),
    },
  },
  {
    name: 'bind',
    method: 'PUT',
    path: binding('old', 'new'),
    good: sync,
    fields: {
      service_id: {},
      plan_id: {},
      context: object(201),
      'context.platform': any(201),
      app_guid: text(201),
      bind_resource: object(201),
      'bind_resource.app_guid': text(201),
      'bind_resource.route': any(201),
      'bind_resource.backup_agent': any(201),
      parameters: object(201),
      'parameters.anything': any(201),
      predecessor_binding_id: { ...text(201), string: 400 },
      of_a_later_version: any(201),
    },
  },
]

for (const { name, method, path, good, fields } of endpoints)
  describe(`a field of a ${name} request`, () => {
    it.each(cases(fields))('%s: %s -> %i', (field, kind, status) =>
      attacking(async target => {
        await provisionOld(target)
        const before = await rows(target)
        const answer = await target.send({ method, path, body: JSON.stringify(withField(good, field, values[kind])) })
        if (status >= 400) {
          expectRefusal(answer, status)
          expect(await rows(target)).toEqual(before)
          return
        }
        expect(answer).toMatchObject({ status, body: expect.any(Object) })
        const fetched = await target.send({ method: 'GET', path })
        expect(fetched.status).toBe(200)
        if (field.startsWith('parameters.'))
          expect(fetched.body).toMatchObject({ parameters: { anything: values[kind] } })
      }),
    )

    it.each(Object.keys(fields))('%s left out is refused only where it is mandatory', field =>
      attacking(async target => {
        await provisionOld(target)
        const { [field]: _, ...rest } = good
        const answer = await target.send({ method, path, body: JSON.stringify(rest) })
        if (field in good) expectRefusal(answer, 400)
        else expect([200, 201]).toContain(answer.status)
      }),
    )
  })

describe('a query parameter', () => {
  it.each(['', 'true', 'TRUE', '1', 'yes', 'true%20', 'null', 'false', '%00', 'x'.repeat(5000)])(
    'accepts_incomplete=%s: only the word true allows a 202',
    text =>
      attacking(async target => {
        const body = JSON.stringify({ service_id: 'full', plan_id: 'full-small', ...place })
        const path = `${instance('new')}?accepts_incomplete=${text}`
        expect(await target.send({ method: 'PUT', path, body })).toMatchObject({ status: text === 'true' ? 202 : 201 })
      }),
  )

  it.each(['service_id', 'plan_id'])('%s empty, absent, unknown or of another service: 400, nothing deleted', name =>
    attacking(async target => {
      await provisionOld(target)
      const rest = syncQuery.replace(new RegExp(`${name}=[^&]*&?`), '').replace(/&$/, '')
      for (const extra of ['', `&${name}`, `&${name}=`, `&${name}=unknown`, `&${name}=full`, `&${name}=full-small`])
        for (const path of [instance('old'), binding('old', 'b')])
          expectRefusal(await target.send({ method: 'DELETE', path: path + rest + extra }), 400)
      expect(await target.store.instance('old')).toMatchObject({ phase: 'ready' })
      expect(await target.store.binding('old', 'b')).toMatchObject({ phase: 'ready' })
    }),
  )

  it.each([
    'service_id=a&service_id=a',
    'plan_id=a&plan_id=b',
    'operation=a&operation=b',
    'service%5Fid=a&service_id=a',
  ])('%s came twice: 400', query =>
    attacking(async target => {
      await provisionOld(target)
      for (const path of [instance('old'), `${instance('old')}/last_operation`, binding('old', 'b')])
        expectRefusal(await target.send({ method: 'GET', path: `${path}?${query}` }), 400)
    }),
  )

  it('twice, to make an answer asynchronous: 400, nothing created', () =>
    attacking(async target => {
      const path = `${instance('new')}?accepts_incomplete=true&accepts_incomplete=false`
      expectRefusal(await target.send({ method: 'PUT', path, body: JSON.stringify({ ...sync, ...place }) }), 400)
      expect(await target.store.instance('new')).toBeUndefined()
    }))

  it('that nobody knows does no harm, however often it comes', () =>
    attacking(async target => {
      await provisionOld(target)
      for (const query of ['a=1&a=2', '&&&', '=', '?', 'a[]=1', `${'x=1&'.repeat(3000)}`])
        expect((await target.send({ method: 'GET', path: `${instance('old')}?${query}` })).status).toBe(200)
      const operation = encodeURIComponent("' OR 1=1;--\u0000\u{1f680}")
      const polled = await target.send({
        method: 'GET',
        path: `${instance('old')}/last_operation?operation=${operation}`,
      })
      expect(polled).toMatchObject({ status: 200, body: { state: 'succeeded' } })
    }))
})

function cases(fields: Readonly<Record<string, Expected>>): readonly (readonly [string, Kind, number])[] {
  const kinds = Object.keys(values) as Kind[]
  return Object.entries(fields).flatMap(([field, expected]) =>
    kinds.map(kind => [field, kind, expected[kind] ?? 400] as const),
  )
}

function withField(good: Readonly<Record<string, unknown>>, field: string, value: unknown): object {
  const [outer = '', inner] = field.split('.')
  return { ...good, [outer]: inner === undefined ? value : { [inner]: value } }
}

async function provisionOld(target: Target): Promise<void> {
  const created = await target.send({
    method: 'PUT',
    path: instance('old'),
    body: JSON.stringify({ ...sync, ...place }),
  })
  const bound = await target.send({ method: 'PUT', path: binding('old', 'b'), body: JSON.stringify(sync) })
  expect([created.status, bound.status]).toEqual([201, 201])
}

/** What must not change with a request that is refused. */
async function rows({ store, backend }: Target): Promise<unknown> {
  return {
    instances: [await store.instance('old'), await store.instance('new')],
    bindings: await store.bindings('old'),
    history: await store.history('old'),
    done: [...backend.done],
  }
}
