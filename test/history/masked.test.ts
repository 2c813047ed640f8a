import { expect, it } from 'vitest'
import { defineService } from '../../src/index.ts'
import type { Settings } from '../../src/settings/settings.ts'
import { startTestBroker } from '../../src/testing/index.ts'
import { adminOf } from '../verbs/admin.ts'

const identity = { platform: 'cloudfoundry', user: { user_id: 'ada-683ea748' } }
const ids = { service_id: 'kv', plan_id: 'free' }

const kv = defineService({
  id: 'kv',
  name: 'kv',
  description: 'keys and values',
  bindable: false,
  plans: [{ id: 'free', name: 'free', description: 'free' }],
  async provision() {},
  async deprovision() {},
})

/** The lines about an instance that was provisioned, deleted, and swept by an operator. */
async function historyWith(settings: Settings) {
  const broker = await startTestBroker({ services: [kv], settings, transport: 'socket' })
  const client = broker.createClient({ originatingIdentity: identity, requestIdentity: 'request-1' })
  const admin = adminOf(broker)
  try {
    const place = { organization_guid: 'o', space_guid: 's' }
    expect((await client.provision('i', { ...ids, ...place }, { acceptsIncomplete: true })).status).toBe(202)
    await broker.clock.advance(1_000)
    await client.deprovision('i', ids, { acceptsIncomplete: true })
    await broker.clock.advance(1_000)
    expect((await admin.sweepInstance('i', { reason: 'its bucket' })).status).toBe(202)
    await broker.clock.advance(60_000)
    return await broker.store.history('i')
  } finally {
    await broker.stop()
  }
}

it('a line says who asked, who had signed in, from where, and how it ended', async () => {
  const lines = await historyWith({})
  const [accepted, succeeded] = lines
  const asked = { identity, requestId: 'request-1', action: 'provision' }
  expect(accepted).toMatchObject({ type: 'accepted', ...asked, principal: 'anonymous', address: '127.0.0.1' })
  expect(succeeded).toMatchObject({ type: 'succeeded', ...asked })
  expect(lines.find(({ type }) => type === 'acted')).toMatchObject({ by: 'anonymous', address: '127.0.0.1' })
})

it('what history.mask names is not written, wherever it would stand', async () => {
  const lines = await historyWith({ history: { mask: ['identity', 'principal', 'address', 'by'] } })
  const text = JSON.stringify(lines)
  for (const secret of ['ada-683ea748', '127.0.0.1', 'anonymous']) expect(text).not.toContain(secret)
  const masked = { principal: 'masked', address: 'masked', identity: { masked: true } }
  expect(lines[0]).toMatchObject({ type: 'accepted', ...masked, requestId: 'request-1' })
  expect(lines[1]).toMatchObject({ type: 'succeeded', identity: { masked: true } })
  expect(lines.find(({ type }) => type === 'acted')).toMatchObject({ by: 'masked', address: 'masked' })
  const some = await historyWith({ history: { mask: ['address'] } })
  expect(some[0]).toMatchObject({ identity, principal: 'anonymous', address: 'masked' })
})
