import { describe, expect, it } from 'vitest'
import { createPinnedKeeper } from '../../src/broker/registries/keep-pinned.ts'
import type { Revision } from '../../src/domain/revision.ts'
import type { ImageProgram, NotKept } from '../../src/sandbox.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'

const revision = (id: string, digest = id) =>
  ({ id, registry: 'dh', image: `r/${digest}@sha256:${digest}`, digest: `sha256:${digest}`, fullName: id }) as Revision
const tagged = { ...revision('tagged'), image: 'r/tagged:1' }
const imageOf = (id: string) => revision(id).image
const credentials = { username: 'me', password: 'secret-1' }

/** A runtime that keeps what it is told to, but for what a test says, and a ledger with these uses. */
function open(used: string) {
  const clock = createVirtualClock()
  const stopping = new AbortController()
  const world = {
    used,
    kept: [] as (readonly ImageProgram[])[],
    told: [] as unknown[],
    isStoreDown: false,
    isSecretGone: false,
    notKept: [] as readonly NotKept[],
    images: () => world.kept.at(-1)?.map(({ image }) => image),
    /** One period. */
    pass: () => clock.advance(60_000),
  }
  const keeper = createPinnedKeeper({
    async keep(programs) {
      world.kept.push(programs)
      return world.notKept
    },
    async imageOf({ image }) {
      if (world.isSecretGone) throw new Error('there is no secret')
      return { kind: 'image', image, pull: 'if-missing', credentials }
    },
    store: {
      async revisionUses() {
        if (world.isStoreDown) throw new Error('down')
        return world.used.split(' ').map(revisionId => ({ revisionId, planId: 'p', instances: 1 }))
      },
    },
    clock,
    observer: { 'image.keepFailed': ({ image, error }) => world.told.push([image, error.message]) },
  })
  keeper.look([revision('a'), revision('b'), revision('twin', 'a'), tagged])
  const running = keeper.run(stopping.signal)
  const stop = async () => {
    stopping.abort()
    await running
  }
  return { ...keeper, world, clock, stop }
}

describe('images that instances are pinned to', () => {
  it('are kept, each once, whatever else the registries offer, with the credentials of the registry', async () => {
    const { world, clock, stop } = open('a twin tagged')
    await clock.advance(0)
    expect(world.kept).toEqual([[{ kind: 'image', image: imageOf('a'), pull: 'if-missing', credentials }]])
    await stop()
    expect(clock.pending()).toBe(0)
  })

  it('are looked at when the catalog changes, and every minute', async () => {
    const { look, world, clock, stop } = open('a')
    await clock.advance(59_999)
    expect(world.kept).toHaveLength(1)
    world.used = 'a b'
    await clock.advance(1)
    expect(world.images()).toEqual([imageOf('a'), imageOf('b')])
    world.used = 'b'
    look([revision('b')])
    await clock.advance(0)
    expect(world.images()).toEqual([imageOf('b')])
    expect(world.kept).toHaveLength(3)
    await stop()
  })

  it('are all left as they are while the catalog here is behind the ledger', async () => {
    const { look, world, clock, stop } = open('a new')
    await world.pass()
    expect(world.kept).toEqual([])
    look([revision('a'), revision('new')])
    await clock.advance(0)
    expect(world.images()).toEqual([imageOf('a'), imageOf('new')])
    expect(world.told).toEqual([])
    await stop()
  })

  it('are told about once where they cannot be kept, and again after they were', async () => {
    const { world, stop } = open('a b')
    world.notKept = [{ image: imageOf('a'), error: new Error('gone') }]
    await world.pass()
    await world.pass()
    expect(world.told).toEqual([[imageOf('a'), 'gone']])
    world.notKept = []
    await world.pass()
    world.notKept = [{ image: imageOf('a'), error: new Error('gone again') }]
    await world.pass()
    expect(world.told.at(-1)).toEqual([imageOf('a'), 'gone again'])
    expect(world.told).toHaveLength(2)
    await stop()
  })

  it('are tried again where the ledger does not answer', async () => {
    const { world, stop } = open('a')
    world.isStoreDown = true
    await world.pass()
    await world.pass()
    expect(world.told).toEqual([[undefined, 'down']])
    world.isStoreDown = false
    await world.pass()
    expect(world.images()).toEqual([imageOf('a')])
    await stop()
  })

  it('stay where the credentials for them cannot be read', async () => {
    const { world, clock, stop } = open('a')
    world.isSecretGone = true
    world.notKept = [{ image: imageOf('a'), error: new Error('is not here') }]
    await clock.advance(0)
    expect(world.kept).toEqual([[{ kind: 'image', image: imageOf('a'), pull: 'never' }]])
    expect(world.told).toEqual([[imageOf('a'), 'there is no secret']])
    await stop()
  })
})
