import { expect, it } from 'vitest'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { scrape } from '../observer/scrape.ts'
import { bundle, minute, ScriptedRegistry, startWorld } from './world.ts'

const lastComplete = 'purser_registry_last_complete_timestamp_seconds'

it('a process that is started anew knows when a registry last answered in full, or counts from its start', async () => {
  const clock = createVirtualClock()
  const store = createMemoryStore({ clock })
  const [once, never] = [new ScriptedRegistry('once'), new ScriptedRegistry('never')]
  const options = { registries: [once, never], store, clock, settings: { metrics: { serve: 'open' } } } as const
  once.offers(bundle('db'))
  never.offersInPart(bundle('cache'))
  const before = clock.now() / 1000
  const first = await startWorld(options)
  once.offersInPart()
  await first.sync()
  await first.stop()
  await clock.advance(5 * minute)
  const again = clock.now() / 1000
  const { value } = await scrape(await startWorld(options))
  expect(value('purser_registry_up', { registry: 'once' })).toBe(1)
  expect(value(lastComplete, { registry: 'once' })).toBe(before)
  expect(value(lastComplete, { registry: 'never' })).toBe(again)
})
