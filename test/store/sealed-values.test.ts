/** Which values an operation seals from its request to its end: most of what encryption costs is their number. */
import { expect, it, onTestFinished } from 'vitest'
import { createBroker } from '../../src/create-broker.ts'
import { defineService } from '../../src/index.ts'
import type { Keyring } from '../../src/store.ts'
import { describeEncrypted } from './encrypted-ledger.ts'
import { testKeyring } from './test-keyring.ts'

describeEncrypted('sealed values of an operation', newLedger => {
  it('of three steps: one for each, and the instance twice; nothing is opened that was sealed here', async () => {
    const { keyring, calls } = counted(testKeyring('2026-a'))
    const store = await newLedger().open(keyring)
    const broker = createBroker({ services: [service] }, { store, authenticator: 'none' })
    onTestFinished(() => broker.close())
    await broker.start()
    calls.length = 0
    const request = new Request('http://localhost/v2/service_instances/i', {
      method: 'PUT',
      headers: { 'x-broker-api-version': '2.17', 'content-type': 'application/json' },
      body: JSON.stringify({ service_id: 'service', plan_id: 'plan', organization_guid: 'o', space_guid: 's' }),
    })
    expect((await broker.fetch(request)).status).toBe(201)
    expect(calls).toEqual(['seal instance', ...Array(3).fill('seal step'), 'seal instance'])
  })
})

const service = defineService({
  id: 'service',
  name: 'service',
  description: 'Has three steps.',
  bindable: false,
  plans: [{ id: 'plan', name: 'plan', description: 'A plan.' }],
  async provision(ctx) {
    for (const name of ['one', 'two', 'three']) await ctx.step(name, () => name)
    return { state: { made: true } }
  },
  deprovision() {},
})

function counted(keyring: Keyring) {
  const calls: string[] = []
  const counting: Keyring = {
    ...keyring,
    seal(text, place) {
      calls.push(`seal ${place[0]}`)
      return keyring.seal(text, place)
    },
    unseal(text, place) {
      calls.push(`unseal ${place[0]}`)
      return keyring.unseal(text, place)
    },
  }
  return { keyring: counting, calls }
}
