import { expect, it } from 'vitest'
import { bundle, idsOf, place, ScriptedRegistry, startWorld } from './world.ts'

it('a default that breaks its own rule is left alone by a provision and an update, and not by users', async () => {
  const registry = new ScriptedRegistry('dh')
  const rules = 'type: string, required: true, updatable: true'
  const parameters = `[{ name: code, ${rules}, pattern: "^[0-9]+$", default: none }, { name: label, ${rules}, default: x }]`
  registry.offers(bundle('db', { parameters }))
  const world = await startWorld({ registries: [registry] })
  const ids = idsOf('dh', 'db')
  const provision = (id: string, given?: object) =>
    world.client.provision(id, { ...ids, ...place, ...(given && { parameters: given }) } as never, {
      acceptsIncomplete: true,
    })
  expect((await provision('i')).status).toBe(202)
  expect((await world.end('i')).state).toBe('succeeded')
  expect((await world.store.instance('i'))?.parameters).toEqual({ code: 'none', label: 'x' })
  expect((await provision('j', { code: 'wrong' })).status).toBe(400)
  const update = { service_id: ids.service_id, parameters: { label: 'y' } }
  expect((await world.client.update('i', update as never, { acceptsIncomplete: true })).status).toBe(202)
  expect((await world.end('i')).state).toBe('succeeded')
  expect((await world.store.instance('i'))?.parameters).toEqual({ code: 'none', label: 'y' })
})
