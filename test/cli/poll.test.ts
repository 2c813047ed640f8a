import { describe, expect, it } from 'vitest'
import type { PollOptions, PollProgress, PollTarget } from '../../src/client/index.ts'
import { createOsbClient, pollUntilDone } from '../../src/client/index.ts'
import type { CannedAnswers } from './canned-broker.ts'
import { startCannedBroker } from './canned-broker.ts'
import { createVirtualClock } from './virtual-clock.ts'

const instancePoll = 'GET /v2/service_instances/i/last_operation'
const bindingPoll = 'GET /v2/service_instances/i/service_bindings/b/last_operation'
const running = { status: 200, body: { state: 'in progress', description: 'starting' } }
const succeeded = { status: 200, body: { state: 'succeeded', description: 'ready' } }

async function poll(answers: CannedAnswers, target: Partial<PollTarget> = {}, options: Partial<PollOptions> = {}) {
  const broker = await startCannedBroker(answers)
  const clock = createVirtualClock()
  const progress: PollProgress[] = []
  const result = await pollUntilDone(
    createOsbClient({ url: broker.url }),
    { action: 'provision', instanceId: 'i', ...target },
    { clock, maximum: 600_000, onProgress: step => progress.push(step), ...options },
  )
  return { result, progress, waits: clock.waits, broker }
}

describe('pollUntilDone', () => {
  it('POLL-05 POLL-06 sends the operation and the ids', async () => {
    const target = { operation: 'op/1', serviceId: 's', planId: 'p' }
    const { broker, result } = await poll({ [instancePoll]: succeeded }, target)
    expect(broker.requests[0]?.url).toContain('?service_id=s&plan_id=p&operation=op%2F1')
    expect(result).toEqual({ state: 'succeeded', description: 'ready', elapsed: 0 })
  })

  it('POLL-21 waits as long as Retry-After asks, else a growing while', async () => {
    const answers = [{ ...running, headers: { 'retry-after': '30' } }, running, running, succeeded]
    const { waits, progress } = await poll({ [instancePoll]: answers })
    expect(waits).toEqual([30_000, 1500, 2250])
    expect(progress).toHaveLength(3)
    expect(progress[0]).toEqual({ description: 'starting', elapsed: 0 })
    expect(progress[1]).toEqual({ description: 'starting', elapsed: 30_000 })
  })

  it('POLL-13 goes on through 404, 5xx and broken connections, and says so', async () => {
    const answers = [running, { status: 404, body: {} }, { status: 503, body: { error: 'Busy' } }, 'hang up', succeeded]
    const { result, progress } = await poll({ [instancePoll]: answers as (typeof running)[] })
    expect(result.state).toBe('succeeded')
    expect(progress.map(step => [step.description, step.problem])).toEqual([
      ['starting', undefined],
      ['starting', 'the broker answered 404'],
      ['starting', 'the broker answered 503 Busy'],
      ['starting', expect.stringContaining('the broker could not be reached')],
    ])
  })

  it('POLL-11 a deprovision ends with 410', async () => {
    const { result } = await poll({ [instancePoll]: [running, { status: 410, body: {} }] }, { action: 'deprovision' })
    expect(result.state).toBe('succeeded')
  })

  it('POLL-12 a provision goes on after 410', async () => {
    const { result, broker } = await poll({ [instancePoll]: [{ status: 410, body: {} }, succeeded] })
    expect(result.state).toBe('succeeded')
    expect(broker.requests).toHaveLength(2)
  })

  it('BPOLL-05 polls bindings at their own endpoint', async () => {
    const failed = { status: 200, body: { state: 'failed', description: 'no room' } }
    const { result } = await poll({ [bindingPoll]: failed }, { action: 'bind', bindingId: 'b' })
    expect(result).toMatchObject({ state: 'failed', description: 'no room' })
  })

  it('DUR-02 stops at the maximum, after a last look', async () => {
    const answer = { ...running, headers: { 'retry-after': '40' } }
    const { result, waits } = await poll({ [instancePoll]: answer }, {}, { maximum: 60_000 })
    expect(result).toEqual({ state: 'timed out', description: 'starting', elapsed: 60_000 })
    expect(waits).toEqual([40_000, 20_000])
  })

  it('ends when it is aborted', async () => {
    const controller = new AbortController()
    const onProgress = () => controller.abort(new Error('enough'))
    await expect(poll({ [instancePoll]: running }, {}, { signal: controller.signal, onProgress })).rejects.toThrow(
      'enough',
    )
  })
})
