/** How often specs are parsed, and schemas compiled: a revision never changes. */
import { expect, it, onTestFinished, vi } from 'vitest'
import type { JsonObject } from '../../src/protocol/json.ts'
import { specWith } from '../bundle-spec/specs.ts'

const parses: string[] = []

/** The broker over a parser that is counted. Other tests of this process keep theirs. */
async function loadCounted() {
  vi.resetModules()
  vi.doMock('../../src/bundle/spec.ts', async load => {
    const spec = await load<typeof import('../../src/bundle/spec.ts')>()
    return {
      ...spec,
      parseBundleSpec: (source: unknown, where: string) => {
        parses.push(/bundleVersion: (\S+)/.exec(String(source))?.[1] ?? '')
        return spec.parseBundleSpec(source, where)
      },
    }
  })
  onTestFinished(() => {
    vi.doUnmock('../../src/bundle/spec.ts')
    vi.resetModules()
  })
  return import('./world.ts')
}

it('is once when it is found, and once when it is used first', async () => {
  const { bundle, idsOf, ScriptedRegistry, startWorld } = await loadCounted()
  const registry = new ScriptedRegistry('dh')
  registry.offers(bundle('pg'))
  const { client, end, sync } = await startWorld({ registries: [registry] })
  await sync()
  expect(parses).toEqual(['1.0.0'])
  const ids = idsOf('dh', 'pg')
  const actions = async (id: string) => {
    await client.provision(id, ids, { acceptsIncomplete: true })
    expect(await end(id)).toMatchObject({ state: 'succeeded' })
    await client.bind(id, 'b', ids)
    await client.update(id, { service_id: ids.service_id }, { acceptsIncomplete: true })
    expect(await end(id)).toMatchObject({ state: 'succeeded' })
  }
  await actions('one')
  await actions('two')
  expect(parses).toEqual(['1.0.0', '1.0.0'])
  // The new revision is compared with the one that instances have.
  registry.offers(bundle('pg', { version: '1.1.0' }))
  await sync()
  await sync()
  expect(parses).toEqual(['1.0.0', '1.0.0', '1.1.0'])
  await actions('three')
  await client.unbind('one', 'b', ids)
  await client.deprovision('one', ids, { acceptsIncomplete: true })
  expect(parses).toEqual(['1.0.0', '1.0.0', '1.1.0', '1.1.0'])
})

it('compiles no schema that was made from a list of parameters before it is used', async () => {
  vi.resetModules()
  const compiled: unknown[] = []
  vi.doMock('../../src/catalog/compile-schema.ts', async load => {
    const { compileSchema, ...rest } = await load<typeof import('../../src/catalog/compile-schema.ts')>()
    return {
      ...rest,
      compileSchema: (schema: JsonObject) => {
        compiled.push(schema.properties)
        return compileSchema(schema)
      },
    }
  })
  onTestFinished(() => {
    vi.doUnmock('../../src/catalog/compile-schema.ts')
    vi.resetModules()
  })
  const { checkBundle } = await import('../../src/bundle/check-bundle.ts')
  const check = (parameters: unknown) =>
    checkBundle(specWith({}, { parameters }), { where: 'bundle.yml', registry: 'dh' })
  const properties = { size: { type: 'string', default: 'm' } }
  expect((await check([{ name: 'size', ...properties.size }])).bundle).toBeDefined()
  expect(compiled).toEqual([])
  expect((await check({ type: 'object', properties })).bundle).toBeDefined()
  expect(compiled).toContainEqual(properties)
})
