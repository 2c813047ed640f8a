import { expect, it } from 'vitest'
import { defineService } from '../../src/index.ts'
import type { Store } from '../../src/store.ts'
import { startTestBroker } from '../../src/testing/test-broker.ts'
import { adminOf } from '../verbs/admin.ts'
import { exported, imported } from './rich-ledger.ts'
import { describeStores, newSqlite, realClock, until } from './stores.ts'

const ids = { service_id: 'service', plan_id: 'plan', organization_guid: 'o', space_guid: 's' }
const keyed = { headers: { 'idempotency-key': 'k' } }

async function boot(store: Store) {
  const service = defineService({
    id: 'service',
    name: 'service',
    description: 'What can be observed',
    bindable: false,
    plans: [{ id: 'plan', name: 'plan', description: 'The plan' }],
    async provision() {},
    async deprovision() {},
    observe: async () => ({ ready: true }),
  })
  const broker = await startTestBroker({ services: [service], store, clock: realClock })
  return { broker, admin: adminOf(broker) }
}

describeStores('what operators have begun moves to', newStore => {
  it('and goes on: a batch, a gate, and a request with a key', async () => {
    const source = await newSqlite()
    const first = await boot(source)
    const names = ['a', 'b', 'c']
    for (const name of names) await first.broker.client.provision(name, ids, {})
    const plan = { action: 'observe', ids: names, reason: 'a look', dry_run: true }
    const { body: batch } = await first.admin.createBatch(plan)
    await first.admin.closeGate('provision', { message: 'We are moving.' })
    await first.admin.observeInstance('a', { reason: 'a look' }, keyed)
    await first.broker.stop()
    const target = await newStore()
    await imported(target, await exported(source))

    const { broker, admin } = await boot(target)
    expect(await broker.client.provision('d', ids, {})).toMatchObject({
      status: 422,
      body: { description: expect.stringContaining('We are moving.') },
    })
    const again = await admin.observeInstance('a', { reason: 'a look' }, keyed)
    expect([again.status, again.headers['idempotency-replayed']]).toEqual([202, 'true'])
    await admin.createBatch({ token: batch.id })
    await until(async () => (await admin.batch(batch.id)).body.state === 'done')
    expect((await admin.batch(batch.id)).body).toMatchObject({ total: 3, left: 0 })
    await broker.stop()
  })
})
