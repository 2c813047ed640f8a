import { expect, it } from 'vitest'
import { createWorld, ids, incomplete, minutes } from './world.ts'

const canaries = ['canary-parameter', 'canary-step', 'canary-state', 'canary-binding-state', 'canary-credentials']

it('what was deleted holds no secret any more, and what its operations kept goes with its row', async () => {
  const world = createWorld({
    settings: { osb: { rememberDeleted: '0s' }, chores: { purgeAfter: '1h' } },
    service: {
      async provision(ctx) {
        await ctx.step('create', () => 'canary-step')
        return { state: { root: 'canary-state' } }
      },
      async bind() {
        return { credentials: { password: 'canary-credentials' }, state: { user: 'canary-binding-state' } }
      },
      async unbind() {},
      async deprovision() {},
    },
  })
  const { ledger, clock } = world
  const { client, bind, unbind, deprovision } = await world.boot()
  const parameters = { password: 'canary-parameter' }
  const { body } = await client.provision('i', { ...ids, parameters }, incomplete)
  const provision = body.operation ?? ''
  await clock.advance(minutes(1))
  const operations = [provision, await bind('i', 'b')]
  await clock.advance(minutes(1))
  const rows = async () => JSON.stringify([await ledger.instance('i'), await ledger.binding('i', 'b')])
  const before = await rows()
  for (const canary of canaries.filter(canary => canary !== 'canary-step')) expect(before).toContain(canary)
  expect(JSON.stringify(await ledger.steps(provision))).toContain('canary-step')

  operations.push(await unbind('i', 'b'))
  await clock.advance(minutes(1))
  operations.push(await deprovision('i'))
  await clock.advance(minutes(1))
  const after = await rows()
  for (const canary of canaries) expect(after).not.toContain(canary)

  await clock.advance(minutes(180))
  expect(await rows()).toBe('[null,null]')
  for (const operation of operations)
    expect([await ledger.operation(operation), await ledger.steps(operation)]).toEqual([undefined, []])
  expect(await ledger.history('i')).toEqual([])
})
