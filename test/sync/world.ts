import { onTestFinished } from 'vitest'
import type { Authenticator } from '../../src/authenticator.ts'
import type { Service } from '../../src/author/define-service.ts'
import { fullName, planIdOf, serviceIdOf } from '../../src/bundle/names.ts'
import type { FoundBundle, Revision } from '../../src/domain/revision.ts'
import { type Observer, silent } from '../../src/observer.ts'
import { digestOf } from '../../src/registry/oci/digest.ts'
import type { RegistryAnswer } from '../../src/registry.ts'
import type { Settings } from '../../src/settings/settings.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import type { Store } from '../../src/store.ts'
import { startTestBrokerWith, type TestBroker } from '../../src/testing/test-broker.ts'
import { createVirtualClock, type VirtualClock } from '../../src/testing/virtual-clock.ts'

export const minute = 60_000
export const place = { organization_guid: 'o', space_guid: 's' }

/** A registry whose answers a test decides; `held` ones come when the test lets them. */
export class ScriptedRegistry {
  readonly name: string
  readonly type = 'scripted'
  readonly failOnError: boolean
  asked = 0
  #answer: RegistryAnswer = { kind: 'complete', found: [], problems: [] }
  #gate: Promise<void> = Promise.resolve()
  #open: () => void = () => {}
  #held = false

  constructor(name: string, failOnError = false) {
    this.name = name
    this.failOnError = failOnError
  }

  offers(...found: readonly FoundBundle[]): void {
    this.#answer = { kind: 'complete', found, problems: [] }
  }

  offersInPart(...found: readonly FoundBundle[]): void {
    this.#answer = { kind: 'partial', found, problems: ['one of them could not be read'] }
  }

  fails(problem = 'no route to host'): void {
    this.#answer = { kind: 'failed', problem }
  }

  get isHeld(): boolean {
    return this.#held
  }

  hold(): void {
    this.#held = true
    this.#gate = new Promise(resolve => {
      this.#open = resolve
    })
  }

  release(): void {
    this.#held = false
    this.#open()
  }

  async list(): Promise<RegistryAnswer> {
    this.asked += 1
    await this.#gate
    return this.#answer
  }
}

export interface SpecOptions {
  readonly version?: string
  readonly plans?: readonly string[]
  readonly parameters?: string
  readonly updatesTo?: readonly string[]
  readonly source?: string
}

/** A bundle as a registry finds it. */
export function bundle(name: string, options: SpecOptions = {}): FoundBundle {
  const { version = '1.0.0', plans = ['small'], parameters = '[]', updatesTo = [] } = options
  const lines = plans.map(
    plan =>
      `  - { name: ${plan}, description: the ${plan} one, free: true, parameters: ${parameters}, updates_to: [${updatesTo.join(', ')}] }`,
  )
  const source =
    options.source ??
    `version: 1.0\nname: ${name}\ndescription: a ${name}\nbindable: true\nasync: optional\nbundleVersion: ${version}\nplans:\n${lines.join('\n')}\n`
  const digest = digestOf(Buffer.from(source))
  return { name, image: `registry.test/${name}@${digest}`, tag: 'latest', digest, source, runtime: 2 }
}

export function idsOf(registry: string, name: string, plan = 'small') {
  const full = fullName(registry, name)
  return { service_id: serviceIdOf(full), plan_id: planIdOf(full, plan) }
}

export interface WorldOptions {
  readonly registries: readonly ScriptedRegistry[]
  readonly settings?: Settings
  readonly reconcile?: Settings['reconcile']
  readonly store?: Store
  readonly clock?: VirtualClock
  readonly observer?: Observer
  readonly authenticator?: Authenticator
  /** Of the broker's own code. */
  readonly services?: readonly Service[]
  /** What runs in the place of a bundle; each call is noted in `ran` before. */
  readonly act?: (action: string, revision: Revision) => unknown
}

export interface World extends TestBroker {
  /** `provision 1.0.0`: each action and the bundle version that it ran with. */
  readonly ran: string[]
  sync(): Promise<void>
  names(): Promise<readonly string[]>
  /** Polls until the operation has ended. */
  end(instanceId: string): Promise<{ readonly state?: string | undefined; readonly description?: string | undefined }>
}

/** A broker over scripted registries, in virtual time. */
export async function startWorld(options: WorldOptions): Promise<World> {
  const clock = options.clock ?? createVirtualClock()
  const store = options.store ?? createMemoryStore({ clock })
  const ran: string[] = []
  const drive = (revision: Revision): Service => {
    const act = async (action: string) => {
      ran.push(`${action} ${revision.bundleVersion}`)
      await options.act?.(action, revision)
    }
    return {
      id: revision.serviceId,
      provision: () => act('provision'),
      update: () => act('update'),
      deprovision: () => act('deprovision'),
      bind: async () => {
        await act('bind')
        return { credentials: { user: 'u' } }
      },
      unbind: () => act('unbind'),
    }
  }
  const broker = await startTestBrokerWith(
    {
      services: options.services ?? [],
      observer: options.observer ?? silent,
      authenticator: options.authenticator,
      store,
      clock,
      settings: {
        osb: { requireOrgAndSpace: false },
        chores: { sync: '-' },
        ...options.settings,
        reconcile: { retireAfter: '10m', emptyAfter: 1, ...options.settings?.reconcile, ...options.reconcile },
      },
    },
    { registries: { registries: options.registries, drive, given: async () => [], onCatalog: async () => {} } },
  )
  onTestFinished(() => broker.stop())
  const settled = async () => {
    for (;;) {
      const { chores } = await store.chores()
      const sync = chores.find(({ name }) => name === 'sync')
      if (sync?.finishedAt !== undefined || options.registries.some(({ isHeld }) => isHeld)) break
      await clock.advance(0)
    }
    for (let turn = 0; turn < 5; turn += 1) await clock.advance(0)
  }
  await settled()
  return {
    ...broker,
    ran,
    async sync() {
      // A chore is taken for a moment: the next run is one of a later one.
      await clock.advance(1)
      const admin = await broker.fetch(new Request(`${broker.url}/admin/chores/sync/runs`, { method: 'POST' }))
      if (admin.status !== 202) throw new Error(`the sync did not start: ${await admin.text()}`)
      await settled()
    },
    async names() {
      const { body } = await broker.client.catalog()
      return (body.services ?? []).map(({ name }) => name)
    },
    async end(instanceId) {
      for (let turn = 0; turn < 300; turn += 1) {
        const { body } = await broker.client.lastOperation(instanceId)
        if (body.state !== 'in progress') return body
        await clock.advance(500)
      }
      throw new Error(`the operation of ${instanceId} does not end`)
    },
  }
}
