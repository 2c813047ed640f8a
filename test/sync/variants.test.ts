import { describe, expect, it } from 'vitest'
import { fullName, serviceIdOf } from '../../src/bundle/names.ts'
import { createAdminClient } from '../../src/client/index.ts'
import { bundle, idsOf, place, ScriptedRegistry, startWorld } from './world.ts'

const source = (version: string, name = 'hello') =>
  `version: 1.0\nname: ${name}\ndescription: d\nmetadata: { displayName: Hello }\nbundle_version: ${version}\nplans: [{ name: small, description: s }]\n`
const tagged = (tag: string, version: string) => ({
  ...bundle('hello', { source: source(version) }),
  name: `hello:${tag}`,
  tag,
  variant: tag,
})

describe('several versions of one bundle', () => {
  it('are services of their own, with names and ids that stay', async () => {
    const registry = new ScriptedRegistry('dh')
    registry.offers(bundle('hello', { source: source('3.0.0') }), tagged('v1.0', '1.0.0'), tagged('v2.0', '2.0.0'))
    const world = await startWorld({ registries: [registry] })
    const { body } = await world.client.catalog()
    const shown = body.services?.map(({ id, name, metadata }) => [id, name, metadata?.displayName])
    expect(shown).toEqual([
      [serviceIdOf('dh-hello'), 'dh-hello', 'Hello'],
      [serviceIdOf('dh-hello-v1-0'), 'dh-hello-v1-0', 'Hello (v1.0)'],
      [serviceIdOf('dh-hello-v2-0'), 'dh-hello-v2-0', 'Hello (v2.0)'],
    ])
    const provision = (id: string, name: string) =>
      world.client.provision(id, { ...idsOf('dh', name), ...place }, { acceptsIncomplete: true })
    await provision('one', 'hello-v1-0')
    await provision('two', 'hello-v2-0')
    await world.end('one')
    await world.end('two')
    expect(world.ran).toEqual(['provision 1.0.0', 'provision 2.0.0'])
    registry.offers(tagged('v2.0', '2.1.0'))
    await world.sync()
    expect(await world.names()).toEqual(['dh-hello-v2-0'])
    const admin = createAdminClient({ url: world.url, fetch: (input, init) => world.fetch(new Request(input, init)) })
    const { services } = (await admin.registries()).body
    expect(services?.map(({ name, tag, retired_at }) => [name, tag, retired_at !== undefined])).toEqual([
      ['dh-hello-v1-0', 'v1.0', true],
      ['dh-hello-v2-0', 'v2.0', false],
    ])
  })

  it('are reported where one gets the name of another bundle', async () => {
    const registry = new ScriptedRegistry('dh')
    registry.offers(bundle('hello-v1-0', { source: source('9.0.0', 'hello-v1-0') }), tagged('v1.0', '1.0.0'))
    const world = await startWorld({ registries: [registry] })
    expect(await world.names()).toEqual([fullName('dh', 'hello', 'v1.0')])
    const { registries } = await world.store.registries()
    expect(registries[0]?.problems).toEqual([
      'hello:v1.0: not offered, since hello-v1-0 of registry dh is dh-hello-v1-0 too; rename one of them',
    ])
  })
})
