import { expect } from 'vitest'
import { defineService, TerminalError } from '../../src/index.ts'
import { conformance, type Platform, requirement } from './harness.ts'
import { another, bare, bareService, incomplete, provisioned, until } from './helpers.ts'
import { full, org } from './services.ts'

const asked = { ...full, ...org }

/** Sends a PUT whose client hangs up once the broker has accepted it; in process, it only stops listening. */
async function hungUp(t: Platform): Promise<void> {
  const controller = new AbortController()
  void t.client.provision('i', asked, { signal: controller.signal }).catch(() => undefined)
  await until(async () => (await t.client.lastOperation('i')).status === 200)
  controller.abort(new Error('the client hung up'))
}

conformance('Orphans', () => {
  requirement(
    'ORPH-02',
    'what a call of a halted creation leaves behind later is removed without being asked',
    async t => {
      const things = new Set<string>()
      let land = () => {}
      const landed = new Promise<void>(resolve => {
        land = () => {
          things.add('database')
          resolve()
        }
      })
      const deaf = defineService({
        ...bareService(),
        async provision(ctx) {
          await ctx.step('create', () => landed)
        },
        async deprovision() {
          things.delete('database')
        },
      })
      const platform = await another(t, { services: [deaf] })
      await platform.client.provision('i', { ...bare, ...org }, incomplete)
      await platform.clock.advance(0)
      expect((await platform.client.deprovision('i', bare, incomplete)).status).toBe(202)
      expect(await platform.ended('i')).toMatchObject({ state: 'succeeded' })
      land()
      await platform.clock.advance(0)
      expect([...things]).toEqual(['database'])
      await platform.clock.advance(120_000)
      expect([...things]).toEqual([])
      expect(await platform.ended('i')).toMatchObject({ state: 'succeeded' })
    },
  )

  requirement('ORPH-04', 'a DELETE is taken while the PUT runs, of instances and of bindings', async t => {
    const release = t.backend.hold('provision')
    await t.client.provision('i', asked, incomplete)
    expect((await t.client.deprovision('i', full, incomplete)).status).toBe(202)
    expect(await t.ended('i')).toMatchObject({ state: 'succeeded' })
    release()
    await provisioned(t, 'j')
    const releaseBind = t.backend.hold('bind')
    await t.client.bind('j', 'b', full, incomplete)
    expect((await t.client.unbind('j', 'b', full, incomplete)).status).toBe(202)
    expect(await t.ended('j', 'b')).toMatchObject({ state: 'succeeded' })
    releaseBind()
    await t.clock.advance(120_000)
    expect([...t.backend.things]).toEqual(['instance:j'])
  })

  requirement('ORPH-04', 'a DELETE is taken after a 5xx, and for ids never seen', async t => {
    t.backend.failNext('provision', new TerminalError('No.'))
    expect((await t.client.provision('i', asked)).status).toBe(500)
    expect((await t.client.deprovision('i', full)).status).toBe(200)
    expect(t.backend.done).toEqual(['deprovision i'])
    await provisioned(t, 'j')
    t.backend.failNext('bind', new TerminalError('No.'))
    expect((await t.client.bind('j', 'b', full)).status).toBe(500)
    expect((await t.client.unbind('j', 'b', full)).status).toBe(200)
    expect(t.backend.done.at(-1)).toBe('unbind b')
    expect((await t.client.deprovision('never-seen', full)).status).toBe(410)
    expect((await t.client.unbind('j', 'never-seen', full)).status).toBe(410)
    expect((await t.client.unbind('never-seen', 'b', full)).status).toBe(410)
  })

  requirement(['ORPH-04', 'ORPH-05'], 'a DELETE halts what a client that hung up has begun', async t => {
    const release = t.backend.hold('provision')
    await hungUp(t)
    expect((await t.client.lastOperation('i')).body.state).toBe('in progress')
    expect((await t.client.deprovision('i', full, incomplete)).status).toBe(202)
    expect(await t.ended('i')).toMatchObject({ state: 'succeeded' })
    release()
    await t.clock.advance(120_000)
    expect([...t.backend.things]).toEqual([])
    expect(t.backend.done).not.toContain('provision i')
  })

  requirement('ORPH-05', 'the operation of a client that hung up goes on to its end', async t => {
    const release = t.backend.hold('provision')
    await hungUp(t)
    await t.clock.advance(5_000)
    release()
    expect(await t.ended('i')).toMatchObject({ state: 'succeeded' })
    expect(t.backend.done).toEqual(['provision i'])
    expect((await t.client.provision('i', asked)).status).toBe(200)
  })

  requirement('ORPH-31', 'every answer has a JSON object, and none is a 204', async t => {
    const { client } = t
    const answers = [
      await client.catalog(),
      await client.provision('i', asked),
      await client.provision('i', asked),
      await client.provision('j', asked, incomplete),
      await client.lastOperation('i'),
      await client.fetchInstance('i'),
      await client.update('i', { service_id: 'full', parameters: { size: 2 } }),
      await client.update('i', { service_id: 'full' }),
      await client.bind('i', 'b', full),
      await client.bind('i', 'b', full),
      await client.bind('i', 'c', full, incomplete),
      await client.lastBindingOperation('i', 'b'),
      await client.fetchBinding('i', 'b'),
      await client.deprovision('i', full),
      await client.unbind('i', 'b', full),
      await client.unbind('i', 'b', full),
      await client.deprovision('nobody', full),
      await client.fetchInstance('nobody'),
    ]
    for (const { status, text, headers } of answers) {
      expect(status).not.toBe(204)
      expect(headers['content-type']).toMatch(/^application\/json/)
      expect(JSON.parse(text)).toEqual(expect.objectContaining({}))
      expect(text.startsWith('{')).toBe(true)
    }
    const statuses = new Set(answers.map(({ status }) => status))
    for (const status of [200, 201, 202, 404, 410, 422]) expect(statuses).toContain(status)
  })

  requirement('ORPH-31', 'a refusal that comes after something was made is a 500, and it can be deleted', async t => {
    const things = new Set<string>()
    const late = defineService({
      ...bareService({ bindable: true }),
      async provision(ctx) {
        await ctx.step('make', () => things.add(ctx.instance.id).size)
        if (ctx.instance.id === 'late') throw new TerminalError('Too late to refuse.', { status: 400 })
      },
      async deprovision(ctx) {
        things.delete(ctx.instance.id)
      },
      async bind(ctx) {
        await ctx.step('make', () => things.add(ctx.binding.id).size)
        throw new TerminalError('Too late to refuse.', { status: 409 })
      },
      async unbind(ctx) {
        things.delete(ctx.binding.id)
      },
    })
    const { client } = await another(t, { services: [late] })
    const failed = { status: 500, body: { error: 'ActionFailed', description: 'Too late to refuse.' } }
    expect(await client.provision('late', { ...bare, ...org })).toMatchObject(failed)
    expect((await client.provision('i', { ...bare, ...org })).status).toBe(201)
    expect(await client.bind('i', 'b', bare)).toMatchObject(failed)
    expect([...things]).toEqual(['late', 'i', 'b'])
    expect((await client.deprovision('late', bare)).status).toBe(200)
    expect((await client.unbind('i', 'b', bare)).status).toBe(200)
    expect([...things]).toEqual(['i'])
  })
})
