import { expect } from 'vitest'
import type { OsbResponse } from '../../src/client/index.ts'
import { conformance, type Platform, requirement } from './harness.ts'
import { incomplete, until } from './helpers.ts'
import { full, org } from './services.ts'

type Action = 'provision' | 'update' | 'deprovision' | 'bind' | 'unbind'
type Body = { readonly error?: string; readonly description?: string; readonly operation?: string | null }
type Options = { readonly acceptsIncomplete?: boolean }
type Call = (t: Platform, ids?: typeof full, options?: Options) => Promise<OsbResponse<Body>>

const actions: readonly Action[] = ['provision', 'update', 'deprovision', 'bind', 'unbind']
const later = { service_id: 'always-async', plan_id: 'always-async-plan' }
const other = { parameters: { size: 7 } }

/** What is running, and what its repetition looks like. */
const same: Record<Action, Call> = {
  provision: ({ client }, ids = full, options = incomplete) => client.provision('i', { ...ids, ...org }, options),
  update: ({ client }, { service_id } = full, options = incomplete) =>
    client.update('i', { service_id, parameters: { size: 2 } }, options),
  deprovision: ({ client }, ids = full, options = incomplete) => client.deprovision('i', ids, options),
  bind: ({ client }, ids = full, options = incomplete) => client.bind('i', 'b', ids, options),
  unbind: ({ client }, ids = full, options = incomplete) => client.unbind('i', 'b', ids, options),
}

const putOther: Call = ({ client }) => client.provision('i', { ...full, ...org, ...other }, incomplete)
const patchOther: Call = ({ client }) => client.update('i', { service_id: 'full', ...other }, incomplete)
const bindAnother: Call = ({ client }) => client.bind('i', 'another', full, incomplete)
const bindOther: Call = ({ client }) => client.bind('i', 'b', { ...full, parameters: { readonly: true } }, incomplete)
const fetchInstance: Call = ({ client }) => client.fetchInstance('i')
const fetchBinding: Call = ({ client }) => client.fetchBinding('i', 'b')

/** Rows of the matrix that are refused because of what is running. */
const busy: readonly [running: Action, request: string, call: Call][] = [
  ['provision', 'PATCH', same.update],
  ['provision', 'bind', same.bind],
  ['update', 'another PATCH', patchOther],
  ['update', 'GET', fetchInstance],
  ['update', 'PUT of the same id', same.provision],
  ['update', 'bind', same.bind],
  ['deprovision', 'PUT', same.provision],
  ['deprovision', 'PATCH', same.update],
  ['deprovision', 'bind', same.bind],
  ['bind', 'PATCH of the instance', same.update],
  ['bind', 'DELETE of the instance', same.deprovision],
  ['unbind', 'PUT of the same binding', same.bind],
  ['unbind', 'PATCH of the instance', same.update],
  ['unbind', 'DELETE of the instance', same.deprovision],
]

/** Rows of the matrix where what is asked for conflicts with what is being made, or is not there yet or any more. */
const otherwise: readonly [running: Action, request: string, call: Call, status: number, error: string][] = [
  ['provision', 'PUT with other attributes', putOther, 409, 'InstanceConflict'],
  ['provision', 'GET', fetchInstance, 404, 'InstanceNotFound'],
  ['update', 'PUT with other attributes', putOther, 409, 'InstanceConflict'],
  ['deprovision', 'GET', fetchInstance, 404, 'InstanceNotFound'],
  ['bind', 'PUT with other parameters', bindOther, 409, 'BindingConflict'],
  ['bind', 'GET of the binding', fetchBinding, 404, 'BindingNotFound'],
  ['unbind', 'PUT with other parameters', bindOther, 409, 'BindingConflict'],
  ['unbind', 'GET of the binding', fetchBinding, 404, 'BindingNotFound'],
]

const isOfBinding = (action: Action) => action === 'bind' || action === 'unbind'
const end = (t: Platform, action: Action, operation?: string) =>
  t.ended('i', isOfBinding(action) ? 'b' : undefined, operation)
const target = (action: Action) => (isOfBinding(action) ? 'b' : 'i')

/** Brings instance and binding to where this action is running and cannot end before `release`. */
async function begin(t: Platform, action: Action, ids = full) {
  const before: readonly Action[] =
    action === 'provision' ? [] : action === 'unbind' ? ['provision', 'bind'] : ['provision']
  for (const earlier of before) {
    expect((await same[earlier](t, ids)).status).toBe(202)
    expect(await end(t, earlier)).toMatchObject({ state: 'succeeded' })
  }
  const release = t.backend.hold(action)
  const { status, body } = await same[action](t, ids)
  const operation = body.operation ?? ''
  expect([status, operation]).toEqual([202, expect.stringMatching(/\w/)])
  await until(async () => (await t.store.operation(operation))?.state === 'running')
  const done = [...t.backend.done]
  /** Nothing else has happened when it ends, and it has happened once. */
  const endsAlone = async () => {
    expect(t.backend.done).toEqual(done)
    release()
    expect(await end(t, action, operation)).toMatchObject({ state: 'succeeded' })
    expect(t.backend.done).toEqual([...done, `${action} ${target(action)}`])
  }
  return { operation, release, endsAlone }
}

conformance('Concurrency', () => {
  for (const [running, request, call] of busy)
    requirement(['CONC-02', 'CONC-03'], `while ${running} is running, ${request} is a ConcurrencyError`, async t => {
      const { endsAlone } = await begin(t, running)
      const { status, body } = await call(t)
      expect([status, body.error]).toEqual([422, 'ConcurrencyError'])
      expect(body.description).toMatch(/\w+ \w+.*[Rr]epeat/)
      await endsAlone()
    })

  for (const [running, request, call, status, error] of otherwise)
    requirement('CONC-01', `while ${running} is running, ${request} has its usual answer`, async t => {
      const { endsAlone } = await begin(t, running)
      const answer = await call(t)
      expect([answer.status, answer.body.error]).toEqual([status, error])
      await endsAlone()
    })

  for (const running of actions)
    requirement('CONC-06', `while ${running} is running, the same request gets the same operation`, async t => {
      const { operation, endsAlone } = await begin(t, running)
      for (let repetition = 0; repetition < 3; repetition++) {
        const again = await same[running](t)
        expect([again.status, again.body.operation]).toEqual([202, operation])
      }
      await endsAlone()
    })

  for (const running of actions)
    requirement(
      'CONC-06',
      `while ${running} is running, the same request that cannot be answered 202 waits for it`,
      async t => {
        const { release } = await begin(t, running)
        const done = [...t.backend.done]
        const { accept } = t.store
        let decided = false
        let answered = false
        t.store.accept = async (resource, decide) => {
          const answer = await accept(resource, decide)
          decided = true
          return answer
        }
        const waiting = same[running](t, full, {}).finally(() => {
          answered = true
        })
        await until(() => decided)
        await t.clock.advance(1_000)
        expect(answered).toBe(false)
        release()
        expect((await waiting).status).toBe(running === 'provision' || running === 'bind' ? 201 : 200)
        expect(t.backend.done).toEqual([...done, `${running} ${target(running)}`])
      },
    )

  for (const running of actions)
    requirement(
      ['CONC-01', 'ASYNC-10'],
      `while ${running} of an asynchronous service is running, the same request without consent is AsyncRequired`,
      async t => {
        const { endsAlone } = await begin(t, running, later)
        const { status, body } = await same[running](t, later, {})
        expect([status, body.error]).toEqual([422, 'AsyncRequired'])
        await endsAlone()
      },
    )

  for (const running of ['provision', 'update', 'bind'] as const)
    requirement('CONC-01', `while ${running} is running, DELETE is accepted, stops it and cleans up`, async t => {
      const { operation, release } = await begin(t, running)
      const deletion = running === 'bind' ? 'unbind' : 'deprovision'
      const { status, body } = await same[deletion](t)
      expect(status).toBe(202)
      expect(body.operation).not.toBe(operation)
      expect((await same[deletion](t)).body.operation).toBe(body.operation)
      expect(await end(t, deletion, body.operation ?? '')).toMatchObject({ state: 'succeeded' })
      expect(await end(t, running, operation)).toMatchObject({ state: 'failed' })
      release()
      // Long enough for every call that was under way to land, and for the sweep after it.
      await t.clock.advance(120_000)
      expect(t.backend.done).not.toContain(`${running} ${target(running)}`)
      expect(t.backend.things.has(running === 'bind' ? 'binding:b' : 'instance:i')).toBe(false)
      expect((await (running === 'bind' ? fetchBinding : fetchInstance)(t)).status).toBe(404)
      expect((await same[deletion](t)).status).toBe(410)
    })

  requirement('CONC-05', 'a binding is not a change of the instance: several are made at a time', async t => {
    const { operation, release } = await begin(t, 'bind')
    const second = await bindAnother(t)
    expect(second.status).toBe(202)
    expect(second.body.operation).not.toBe(operation)
    release()
    expect(await t.ended('i', 'b')).toMatchObject({ state: 'succeeded' })
    expect(await t.ended('i', 'another')).toMatchObject({ state: 'succeeded' })
    const unbind = t.backend.hold('unbind')
    expect((await same.unbind(t)).status).toBe(202)
    expect((await t.client.bind('i', 'third', full)).status).toBe(201)
    unbind()
    expect(await t.ended('i', 'b')).toMatchObject({ state: 'succeeded' })
    expect([...t.backend.things].sort()).toEqual(['binding:another', 'binding:third', 'instance:i'])
  })

  for (const options of [incomplete, {}])
    requirement('CONC-06', `of many equal requests at once, ${JSON.stringify(options)}, one creates`, async t => {
      for (const action of ['provision', 'bind'] as const) {
        const answers = await Promise.all(Array.from({ length: 10 }, () => same[action](t, full, options)))
        const created = options === incomplete ? 202 : 201
        const creating = answers.filter(({ status }) => status === created)
        expect(creating.length).toBeGreaterThan(0)
        expect(new Set(creating.map(({ body }) => body.operation)).size).toBe(1)
        // Who comes when it is made already is told so.
        for (const { status } of answers) expect([created, 200]).toContain(status)
        await end(t, action)
      }
      expect(t.backend.done).toEqual(['provision i', 'bind b'])
    })

  requirement(
    'CONC-06',
    'of many different requests for one id at once, one creates and the others conflict',
    async t => {
      const sizes = [1, 2, 3, 4, 5, 6]
      const answers = await Promise.all(
        sizes.map(size => t.client.provision('i', { ...full, ...org, parameters: { size } }, incomplete)),
      )
      expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409, 409, 409])
      await t.ended('i')
      expect(t.backend.done).toEqual(['provision i'])
      const winner = answers.findIndex(({ status }) => status === 202)
      expect((await t.client.fetchInstance('i')).body.parameters).toEqual({ size: sizes[winner] })
    },
  )
})
