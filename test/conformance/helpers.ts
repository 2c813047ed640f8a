import { expect } from 'vitest'
import type { WireOffering } from '../../src/client/index.ts'
import { defineService, type Service } from '../../src/index.ts'
import { observeAll } from '../../src/observer/log.ts'
import type { Observer } from '../../src/observer.ts'
import { type Platform, type Setup, startPlatform, stopped } from './harness.ts'
import { createServices, full, org } from './services.ts'

/** For calls that allow a 202. */
export const incomplete = { acceptsIncomplete: true } as const

/** Every endpoint once, on an instance `i` with a binding `b`. */
export const endpoints = [
  ['GET', '/v2/catalog'],
  ['PUT', '/v2/service_instances/new', { ...full, ...org }],
  ['GET', '/v2/service_instances/i'],
  ['PATCH', '/v2/service_instances/i', { service_id: 'full', parameters: { size: 2 } }],
  ['GET', '/v2/service_instances/i/last_operation'],
  ['PUT', '/v2/service_instances/i/service_bindings/new', full],
  ['GET', '/v2/service_instances/i/service_bindings/b'],
  ['GET', '/v2/service_instances/i/service_bindings/b/last_operation'],
  ['DELETE', '/v2/service_instances/i/service_bindings/b?service_id=full&plan_id=full-small'],
  ['DELETE', '/v2/service_instances/i?service_id=full&plan_id=full-small'],
] as const

/** A second broker, reached the same way as the first. */
export function another(t: Platform, setup: Setup): Promise<Platform> {
  return startPlatform(t.url === 'http://broker.test' ? 'in process' : 'socket', setup)
}

/** The same broker in a new process, on the same ledger. */
export async function restarted(t: Platform, setup: Setup = {}): Promise<Platform> {
  await stopped(t)
  return another(t, { services: createServices(t.backend), store: t.store, clock: t.clock, ...setup })
}

/** Creates an instance of the service `full` (or of another one), synchronously. */
export async function provisioned(t: Platform, instanceId = 'i', ids: typeof full = full): Promise<void> {
  expect((await t.client.provision(instanceId, { ...ids, ...org })).status).toBe(201)
}

export async function bound(t: Platform, instanceId = 'i', bindingId = 'b', ids: typeof full = full): Promise<void> {
  expect((await t.client.bind(instanceId, bindingId, ids)).status).toBe(201)
}

/** A service that does nothing, with one thing special. What does not fit its type is what an untyped author wrote. */
export function bareService(special: object = {}): Service {
  const bare: Service = defineService({
    id: 'bare',
    name: 'bare',
    description: 'Does nothing',
    bindable: false,
    plans: [{ id: 'bare-plan', name: 'plan', description: 'A plan' }],
    async provision() {},
    async deprovision() {},
  })
  return { ...bare, ...special }
}

/** For `bareService`: with these it can be bound. */
export const bindable = {
  bindable: true,
  bind: async () => ({ credentials: { password: 'secret' } }),
  unbind: async () => {},
}

export const bare = { service_id: 'bare', plan_id: 'bare-plan' }

/** What the broker's catalog shows. */
export async function offerings(t: Platform): Promise<readonly WireOffering[]> {
  return (await t.client.catalog()).body.services ?? []
}

/** No broker starts with this catalog, and the reason is said. */
export async function refused(t: Platform, services: readonly Service[], reason: RegExp): Promise<void> {
  await expect(another(t, { services })).rejects.toThrow(reason)
}

/** An observer that keeps all it hears, errors with their causes and stacks included, as one text. */
export function createLog(): { readonly observer: Observer; text(): string } {
  const lines: string[] = []
  const observer = observeAll((type, event) => {
    const shown = Object.entries(event).map(
      ([name, value]) => `${name}=${value instanceof Error ? whole(value) : value}`,
    )
    lines.push([type, ...shown].join(' '))
  })
  return { observer, text: () => lines.join('\n') }
}

function whole(error: Error): string {
  return `${error.stack} ${error.cause instanceof Error ? whole(error.cause) : ''}`
}

/** Lets the event loop turn until the condition holds: for what happens after a request has been sent. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise(resolve => setImmediate(resolve))
}

/** Lets time pass until a request that waits for its operation has been answered. */
export async function answered<Answer>(t: Platform, request: Promise<Answer>): Promise<Answer> {
  let waiting = true
  const done = request.finally(() => {
    waiting = false
  })
  done.catch(() => {})
  while (waiting) await t.clock.advance(1_000)
  return done
}
