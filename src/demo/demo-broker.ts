import { createHash, randomBytes } from 'node:crypto'
import type { BrokerDefinition } from '../author/broker-definition.ts'
import { defineService } from '../author/define-service.ts'
import { createKvBackend, type KvBackend } from './kv-backend.ts'
import { createKvRoutes } from './kv-routes.ts'

export interface DemoOptions {
  /** Where the demo's stores live. */
  readonly folder: string
  /** Where this broker is reached, known when it listens. */
  readonly url: () => string
}

const limits = { 'kv-small': 100, 'kv-large': 10_000, 'kv-replicated': 10_000 }
const replicas = 3

/** The broker that `npm start` serves: two services whose credentials work, with nothing else installed. */
export function createDemoBroker({ folder, url }: DemoOptions): BrokerDefinition {
  const backend = createKvBackend(folder)
  return { services: [keyValue(backend, url), replicated(backend, url)], routes: createKvRoutes(backend) }
}

function keyValue(backend: KvBackend, url: () => string) {
  return defineService({
    id: 'purser.demo.kv',
    name: 'kv',
    description: 'A key-value store over HTTP, ready at once',
    bindable: true,
    planUpdateable: true,
    tags: ['key-value', 'demo'],
    metadata: { displayName: 'Key-value store', providerDisplayName: 'Purser' },
    plans: [
      { id: 'kv-small', name: 'small', description: 'Up to 100 keys', free: true, bindingRotatable: true },
      { id: 'kv-large', name: 'large', description: 'Up to 10,000 keys', free: true, bindingRotatable: true },
    ],
    parameters: {
      type: 'object',
      properties: { label: { type: 'string', maxLength: 60, default: '', description: 'A name for people' } },
      additionalProperties: false,
    },
    async provision(ctx) {
      await ctx.step('create store', () => backend.create(ctx.instance.id, limits[ctx.plan.id]))
      return { state: { store: ctx.instance.id } }
    },
    async update(ctx) {
      await ctx.step('resize store', () => backend.resize(ctx.state.store, limits[ctx.plan.id]))
    },
    bind: ctx => addUser(backend, url, ctx.state.store, ctx),
    unbind: ctx => ctx.step('remove user', () => backend.removeUser(ctx.state.store, userOf(ctx.binding.id))),
    deprovision: ctx => ctx.step('remove store', () => backend.remove(ctx.instance.id)),
    observe: async ctx => ({ ready: await backend.exists(ctx.instance.id) }),
  })
}

function replicated(backend: KvBackend, url: () => string) {
  return defineService({
    id: 'purser.demo.replicated-kv',
    name: 'replicated-kv',
    description: 'The same, slow enough to watch: its replicas come one after the other',
    bindable: true,
    tags: ['key-value', 'demo', 'slow'],
    metadata: { displayName: 'Replicated key-value store', providerDisplayName: 'Purser' },
    plans: [{ id: 'kv-replicated', name: 'standard', description: `${replicas} replicas, 5 seconds each`, free: true }],
    actions: { provision: { async: 'always' } },
    async provision(ctx) {
      await ctx.step('create store', () => backend.create(ctx.instance.id, limits[ctx.plan.id]))
      const ready = typeof ctx.state.ready === 'number' ? ctx.state.ready : 0
      if (ready < replicas) {
        await ctx.step(`start replica ${ready + 1}`, () => backend.exists(ctx.instance.id))
        await ctx.saveState({ ready: ready + 1 })
        return ctx.wait('5s', `replica ${ready + 1}/${replicas} is starting`)
      }
      await ctx.step('join the replicas', () => backend.exists(ctx.instance.id))
      return { state: { store: ctx.instance.id, ready } }
    },
    bind: ctx => addUser(backend, url, ctx.state.store, ctx),
    unbind: ctx => ctx.step('remove user', () => backend.removeUser(ctx.state.store, userOf(ctx.binding.id))),
    async deprovision(ctx) {
      ctx.describe('removing the replicas')
      await ctx.step('remove store', () => backend.remove(ctx.instance.id))
    },
  })
}

type Binding = Pick<import('../author/context.ts').BindContext<unknown, unknown>, 'binding' | 'step'>

/** The password is made in a step of its own, so that a retry gives out the one that was set. */
async function addUser(backend: KvBackend, url: () => string, store: string, ctx: Binding) {
  const username = userOf(ctx.binding.id)
  const password = await ctx.step('choose password', () => randomBytes(24).toString('base64url'))
  await ctx.step('add user', () => backend.addUser(store, username, password))
  const uri = `${url()}/kv/${encodeURIComponent(store)}`
  return { credentials: { uri, username, password } }
}

/** A binding's id may hold any character; a user name in Basic authentication may not. */
function userOf(bindingId: string): string {
  return `u-${createHash('sha256').update(bindingId).digest('hex').slice(0, 16)}`
}
