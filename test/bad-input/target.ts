import { expect } from 'vitest'
import { observeLines } from '../../src/observer/log.ts'
import { type Platform, type Setup, startPlatform } from '../conformance/harness.ts'
import { type Answer, type RawRequest, send } from './wire.ts'

/** A whole broker behind a real socket, to be maltreated. */
export interface Target extends Platform {
  readonly port: number
  send(request: RawRequest): Promise<Answer>
}

/**
 * Runs `attack` against a broker of its own. Whatever it does, the process must not see an unhandled error, the broker must
 * not log a failure of its own, no prototype may have changed, and a good request must still be served afterwards.
 */
export async function attacking(attack: (target: Target) => Promise<void>, setup: Setup = {}): Promise<void> {
  const troubles: unknown[] = []
  const onUnhandled = (error: unknown) => troubles.push(error)
  process.on('unhandledRejection', onUnhandled)
  process.on('uncaughtExceptionMonitor', onUnhandled)
  const before = Object.getOwnPropertyNames(Object.prototype)
  const observer = observeLines('error', line => troubles.push(line))
  const platform = await startPlatform('socket', { observer, ...setup })
  const port = Number(new URL(platform.url).port)
  try {
    await attack({ ...platform, port, send: request => send(port, request) })
    expect((await send(port, { method: 'GET', path: '/healthz' })).status).toBe(200)
  } finally {
    await platform.stop()
    process.off('unhandledRejection', onUnhandled)
    process.off('uncaughtExceptionMonitor', onUnhandled)
  }
  expect(troubles).toEqual([])
  expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before)
}

/** A refusal as the OSB API wants it: this status, and an object with both words. */
export function expectRefusal(answer: Answer, status: number, error?: string): void {
  expect(answer).toMatchObject({
    status,
    headers: { 'content-type': 'application/json' },
    body: { error: error ?? expect.any(String), description: expect.any(String) },
  })
}

/** A plain service without a schema: it takes any parameters, and every action is done when it is answered. */
export const sync = { service_id: 'always-sync', plan_id: 'always-sync-plan' }
export const place = { organization_guid: 'org-1', space_guid: 'space-1' }
export const syncQuery = `?service_id=${sync.service_id}&plan_id=${sync.plan_id}`

export const instance = (id: string) => `/v2/service_instances/${id}`
export const binding = (instanceId: string, id: string) => `${instance(instanceId)}/service_bindings/${id}`
