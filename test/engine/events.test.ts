import { describe, expect, it } from 'vitest'
import type { BrokerEvents, EventType } from '../../src/events.ts'
import { TerminalError } from '../../src/index.ts'
import { observeAll } from '../../src/observer/log.ts'
import type { Observer } from '../../src/observer.ts'
import { createWorld, ids, incomplete, minutes, seconds, takes } from './world.ts'

type Told = { readonly type: EventType } & Partial<BrokerEvents['step.failed'] & BrokerEvents['operation.started']> &
  Readonly<Record<string, unknown>>

function recorder(): { readonly told: Told[]; readonly observer: Observer; of(prefix: string): Told[] } {
  const told: Told[] = []
  const observer = observeAll((type, event) => told.push({ type, ...event } as Told))
  return { told, observer, of: prefix => told.filter(({ type }) => type.startsWith(prefix)) }
}

const typesOf = (told: readonly Told[]) => told.map(({ type }) => type)

describe('the events of an operation', () => {
  it('tell of its request, its attempts, its steps and its end, with what metrics and traces need', async () => {
    const { told, observer, of } = recorder()
    let fails = true
    const world = createWorld({
      observer,
      service: {
        async provision(ctx) {
          await ctx.step('create', async () => {
            await takes(world.clock, 200)
            if (fails) throw new Error('not now')
          })
        },
      },
    })
    const process = await world.boot()
    const client = process.createClient({ requestIdentity: 'r-1' })
    const { body } = await client.provision('i', ids, incomplete)
    await world.clock.advance(seconds(1))
    fails = false
    await world.clock.advance(minutes(1))
    const operation = {
      operationId: body.operation,
      action: 'provision',
      instanceId: 'i',
      serviceId: 'service',
      planId: 'plan',
      platform: 'default',
      requestId: 'r-1',
    }
    const about = told.filter(({ operationId }) => operationId === body.operation)
    expect(of('request.ended')).toMatchObject([{ status: 202, operationId: body.operation, requestId: 'r-1' }])
    expect(typesOf(about.filter(({ type }) => type !== 'request.ended'))).toEqual([
      'operation.accepted',
      'operation.started',
      'step.failed',
      'operation.parked',
      'operation.started',
      'step.succeeded',
      'operation.succeeded',
    ])
    for (const event of [...of('operation.'), ...of('step.')]) expect(event).toMatchObject(operation)
    const [failed] = of('step.failed')
    expect(failed).toMatchObject({ step: 'create', attempt: 1, calls: 1, durationMs: 200, error: new Error('not now') })
    const [parked] = of('operation.parked')
    expect(parked).toMatchObject({ reason: 'retry', attempt: 1, durationMs: 200 })
    expect(of('operation.started')).toMatchObject([
      { attempt: 1, takenOver: false },
      { attempt: 2, startedAt: parked?.until },
    ])
    const [accepted] = of('operation.accepted')
    const [succeeded] = of('operation.succeeded')
    expect(accepted).toMatchObject({ synchronous: false, deadlineAt: expect.any(Number) })
    expect(succeeded).toMatchObject({ attempt: 2, durationMs: 200 })
    expect(succeeded?.totalMs).toBe(Number(succeeded?.startedAt) + 200 - Number(accepted?.acceptedAt))
  })

  it('a wait parks, and a deletion supersedes: the old holder hands its lease back', async () => {
    const { observer, of } = recorder()
    const world = createWorld({
      observer,
      service: { provision: async ctx => ctx.wait('10s', 'still at it') },
    })
    const process = await world.boot()
    const provisioning = await process.provision('i')
    await world.clock.advance(seconds(1))
    expect(of('operation.parked')).toMatchObject([{ reason: 'wait', description: 'still at it' }])
    const deleting = await process.deprovision('i')
    expect(of('operation.superseded')).toMatchObject([
      { operationId: provisioning, action: 'provision', supersededBy: deleting },
    ])
    await world.clock.advance(minutes(1))
    expect(typesOf(of('operation.').filter(({ operationId }) => operationId === deleting))).toEqual([
      'operation.accepted',
      'operation.started',
      'operation.succeeded',
    ])
  })

  it('a lease that is lost, and who takes over', async () => {
    const { observer, of } = recorder()
    const world = createWorld({
      observer,
      service: { provision: ctx => ctx.step('create', () => takes(world.clock, seconds(5))) },
    })
    const first = await world.boot()
    await first.provision('i')
    await world.clock.advance(seconds(1))
    first.crash()
    await world.boot()
    await world.clock.advance(minutes(3))
    expect(of('operation.started')).toMatchObject([{ takenOver: false }, { takenOver: true, attempt: 2 }])
    expect(of('operation.succeeded')).toHaveLength(1)
  })

  it('a failure for good, once: with what the platform is told and what was thrown', async () => {
    const { observer, of } = recorder()
    const cause = new Error('the disk is full')
    const world = createWorld({
      observer,
      service: {
        async provision() {
          throw new TerminalError('There is no room.', { cause })
        },
      },
    })
    const process = await world.boot()
    await process.provision('i')
    await world.clock.advance(seconds(5))
    expect(of('operation.failed')).toMatchObject([
      { reason: 'There is no room.', error: new TerminalError('There is no room.') },
    ])
    expect(of('operation.succeeded')).toEqual([])
  })
})
