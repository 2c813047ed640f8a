import { expect, onTestFinished } from 'vitest'
import type { Clock } from '../../src/clock.ts'
import { defineService, type Service } from '../../src/index.ts'
import { silent } from '../../src/observer.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import type { Store } from '../../src/store.ts'
import { createCrashableStore } from '../../src/testing/crash-points.ts'
import { createLedgerWatch, type LedgerWatch } from '../../src/testing/ledger-watch.ts'
import { startTestBroker, type TestBroker, type TestBrokerOptions } from '../../src/testing/test-broker.ts'
import { createVirtualClock, type VirtualClock } from '../../src/testing/virtual-clock.ts'

export const ids = { service_id: 'service', plan_id: 'plan' }
export const incomplete = { acceptsIncomplete: true } as const

/** A service that does nothing but what a test gives it. */
export function serviceOf(actions: Partial<Service>): Service {
  return {
    ...defineService({
      id: 'service',
      name: 'service',
      description: 'What a test makes of it',
      bindable: actions.bind !== undefined,
      plans: [{ id: 'plan', name: 'plan', description: 'The plan' }],
      async provision() {},
      async deprovision() {},
    }),
    ...actions,
  }
}

/** One process of the broker. */
export interface Process extends TestBroker {
  /** Ends it as SIGKILL does. */
  crash(): void
  isCrashed(): boolean
  /** Ends it at this point of its calls to the ledger. */
  crashAt(point: number | undefined): void
  passed(): number
  /** PUT of an instance; answers the operation, which must have been accepted. */
  provision(instanceId: string): Promise<string>
  update(instanceId: string, parameters: Readonly<Record<string, string>>): Promise<string>
  deprovision(instanceId: string): Promise<string>
  bind(instanceId: string, bindingId: string): Promise<string>
  unbind(instanceId: string, bindingId: string): Promise<string>
  poll(instanceId: string, operation?: string): Promise<Polled>
  pollBinding(instanceId: string, bindingId: string, operation?: string): Promise<Polled>
}

export interface Polled {
  readonly state?: string
  readonly description?: string
}

/** A ledger and a clock that outlive the processes which a test boots on them. */
export interface World {
  readonly clock: VirtualClock
  readonly ledger: Store
  readonly watch: LedgerWatch
  boot(options?: {
    readonly store?: Store
    readonly concurrency?: number
    readonly clock?: VirtualClock
    /** What is other than the world's service. */
    readonly service?: Partial<Service>
  }): Promise<Process>
}

/** Back-off has its full length, unless a test says otherwise, so that every time is known. The ledger is watched. */
export function createWorld(options: Partial<TestBrokerOptions> & { readonly service: Partial<Service> }): World {
  const { service, ...more } = options
  const clock = more.clock ?? createVirtualClock()
  const watch = createLedgerWatch()
  const ledger = watch.wrap(more.store ?? createMemoryStore({ clock }))
  onTestFinished(() => expect(watch.problems()).toEqual([]))
  return {
    clock,
    ledger,
    watch,
    async boot({ store, concurrency, clock: own = clock, service: other = {} } = {}) {
      const crashable = createCrashableStore(store ?? ledger)
      const broker = await startTestBroker({
        random: () => 1,
        observer: silent,
        services: [serviceOf({ ...service, ...other })],
        ...more,
        settings: {
          ...more.settings,
          osb: { requireOrgAndSpace: false, ...more.settings?.osb },
          engine: { ...more.settings?.engine, ...(concurrency && { concurrency }) },
        },
        clock: own,
        store: crashable.store,
      })
      const { crash, crashAt, isCrashed, passed } = crashable
      return { ...broker, crash, crashAt, isCrashed, passed, ...verbs(broker) }
    },
  }
}

function verbs({ client }: TestBroker) {
  const accepted = ({ status, body }: { readonly status: number; readonly body: { operation?: string | null } }) => {
    expect({ status, body }).toMatchObject({ status: 202, body: { operation: expect.any(String) } })
    return body.operation ?? ''
  }
  const query = (operation: string | undefined) => (operation === undefined ? {} : { operation })
  return {
    provision: async (id: string) => accepted(await client.provision(id, ids, incomplete)),
    update: async (id: string, parameters: Readonly<Record<string, string>>) =>
      accepted(await client.update(id, { service_id: ids.service_id, parameters }, incomplete)),
    deprovision: async (id: string) => accepted(await client.deprovision(id, ids, incomplete)),
    bind: async (id: string, binding: string) => accepted(await client.bind(id, binding, ids, incomplete)),
    unbind: async (id: string, binding: string) => accepted(await client.unbind(id, binding, ids, incomplete)),
    poll: async (id: string, operation?: string) => told((await client.lastOperation(id, query(operation))).body),
    pollBinding: async (id: string, binding: string, operation?: string) =>
      told((await client.lastBindingOperation(id, binding, query(operation))).body),
  }
}

/** Whoever waits is always told what for. */
function told(polled: Polled): Polled {
  if (polled.state === 'in progress') expect(polled.description ?? '').not.toBe('')
  return polled
}

/** Resolves on the world's clock, whatever becomes of the one who waits: as a remote system works on. */
export function takes(clock: Clock, ms: number): Promise<void> {
  return new Promise(resolve => {
    clock.after(ms, resolve)
  })
}

/** Seconds since the clock's start, for lists of what happened when. */
export function stopwatch(clock: Clock): () => number {
  const start = clock.now()
  return () => (clock.now() - start) / 1000
}

export const seconds = (count: number) => count * 1000
export const minutes = (count: number) => count * 60_000
