import { describe, expect, it } from 'vitest'
import { createAdminClient } from '../../src/client/index.ts'
import { pinsToCheck, vanishedAfter } from '../../src/domain/pinned-images.ts'
import type { Revision } from '../../src/domain/revision.ts'
import { bundle, idsOf, place, ScriptedRegistry, startWorld } from './world.ts'

class LosingRegistry extends ScriptedRegistry {
  readonly lookedFor: (readonly string[])[] = []
  readonly lost = new Set<string>()
  isSilent = false

  async findImages(images: readonly string[]) {
    this.lookedFor.push(images)
    if (this.isSilent) return { there: [], gone: [] }
    return {
      there: images.filter(image => !this.lost.has(image)),
      gone: images.filter(image => this.lost.has(image)),
    }
  }
}

async function start() {
  const registry = new LosingRegistry('dh')
  const old = bundle('db')
  registry.offers(old)
  const told: unknown[] = []
  const world = await startWorld({
    registries: [registry],
    observer: { 'image.vanished': fields => told.push(fields) },
  })
  await world.client.provision('i', { ...idsOf('dh', 'db'), ...place }, { acceptsIncomplete: true })
  await world.end('i')
  const admin = createAdminClient({ url: world.url, fetch: (input, init) => world.fetch(new Request(input, init)) })
  const vanished = async () => (await admin.registries()).body.registries?.[0]?.vanished
  return { registry, old, told, world, vanished }
}

describe('an image that instances are pinned to', () => {
  it('is looked for only where the registry does not list it', async () => {
    const { registry, world } = await start()
    await world.sync()
    expect(registry.lookedFor).toEqual([])
  })

  it('is told about when it has vanished, until it is back or nobody needs it', async () => {
    const { registry, old, told, world, vanished } = await start()
    registry.lost.add(old.image)
    registry.offers(bundle('db', { version: '2.0.0' }))
    await world.sync()
    const lost = { image: old.image, service: 'dh-db', instances: 1 }
    expect(await vanished()).toEqual([lost])
    expect(told).toEqual([{ registry: 'dh', ...lost }])
    // A registry that does not answer says nothing.
    registry.isSilent = true
    await world.sync()
    expect(await vanished()).toEqual([lost])
    registry.fails('down')
    await world.sync()
    expect(await vanished()).toEqual([lost])
    expect(told).toHaveLength(1)
    registry.isSilent = false
    registry.lost.clear()
    registry.offers(bundle('db', { version: '2.0.0' }))
    await world.sync()
    expect(await vanished()).toBeUndefined()
    registry.lost.add(old.image)
    await world.sync()
    expect(told).toHaveLength(2)
    await world.client.deprovision('i', idsOf('dh', 'db'), { acceptsIncomplete: true })
    await world.end('i')
    await world.sync()
    expect(await vanished()).toBeUndefined()
  })
})

const revision = (name: string, registry = 'dh') =>
  ({ id: name, registry, image: `r/${name}@sha256:${name}`, digest: `sha256:${name}`, fullName: name }) as Revision
const facts = {
  registry: 'dh',
  revisions: [...'abcde'].map(name => revision(name)),
  uses: new Map([...'abcd'].map(name => [name, 1])),
  found: [{ image: revision('b').image }],
}

it('a few are asked about at a time, and each has its turn', () => {
  const [a, c, d] = [...'acd'].map(name => revision(name).image)
  expect(pinsToCheck(facts, undefined, 2)).toEqual([a, c])
  expect(pinsToCheck(facts, c, 2)).toEqual([d, a])
  expect(pinsToCheck(facts, a, 9)).toEqual([c, d, a])
  expect(pinsToCheck(facts, 'z', 1)).toEqual([a])
  expect(pinsToCheck({ ...facts, registry: 'other' }, undefined, 9)).toEqual([])
})

it('what nobody was asked about stays what it was', () => {
  const lost = (name: string) => ({ image: revision(name).image, service: name, instances: 1 })
  const after = (there: string, gone: string) =>
    vanishedAfter(facts, [lost('a'), lost('b'), lost('e')], {
      there: [...there].map(name => revision(name).image),
      gone: [...gone].map(name => revision(name).image),
    })
  expect(after('', '')).toEqual([lost('a')])
  expect(after('a', 'd')).toEqual([lost('d')])
})
