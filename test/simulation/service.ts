import type { ActionContext, ObserveContext } from '../../src/author/context.ts'
import type { ObserveResult } from '../../src/author/results.ts'
import { defineService, type Service } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import type { BackendClient } from './backend.ts'

export const parts = ['network', 'disk', 'database'] as const
export const sharedThing = 'shared'

export interface Features {
  /** Instances share a resource. */
  readonly shares: boolean
  /** Instances are observed. */
  readonly observes: boolean
  /** An observation puts back what is missing of bindings. */
  readonly heals: boolean
  /** A provision waits for its backend between two runs. */
  readonly waits: boolean
  /** The author looks at the backend outside of any step: time passes without a word to the ledger. */
  readonly looks: boolean
  /** What has used up its few retries is held for an operator. */
  readonly holds: boolean
}

/** Three things for an instance, one for a binding; every way in which an action can use the engine. */
export function createSimulatedService(backend: BackendClient, features: Features): Service {
  const { shares, observes, heals, waits, looks, holds } = features
  const limited = { timeout: '4m', ...(holds && { retry: { attempts: 2 } }) } as const
  const build = async (ctx: ActionContext) => {
    for (const part of parts) {
      ctx.describe(`making the ${part}`)
      if (looks) await backend.has([`${ctx.instance.id}/${part}`])
      await ctx.step(part, call => backend.put(`${ctx.instance.id}/${part}`, sizeOf(ctx), call.fence))
    }
  }
  return defineService({
    id: 'service',
    name: 'service',
    description: 'A service of a simulated world',
    bindable: true,
    plans: [{ id: 'plan', name: 'plan', description: 'The plan' }],
    actions: { provision: limited, update: limited, bind: limited },
    hold: holds,
    async provision(ctx) {
      if (shares) await ctx.share(sharedThing, call => backend.put(sharedThing, 'yes', call.fence))
      await ctx.saveState({ name: ctx.instance.id })
      await build(ctx)
      if (waits && !(await backend.isStarted())) return ctx.wait('3s', 'starting')
      return { state: { name: ctx.instance.id } }
    },
    update: build,
    async deprovision(ctx) {
      await Promise.all(
        parts.map(part => ctx.step(part, call => backend.drop(`${ctx.instance.id}/${part}`, call.fence))),
      )
      if (shares) await ctx.unshare(sharedThing, call => backend.drop(sharedThing, call.fence))
    },
    async bind(ctx) {
      await ctx.step('grant', call => backend.put(bindingThing(ctx.instance.id, ctx.binding.id), 'yes', call.fence))
      return { credentials: { user: ctx.binding.id } }
    },
    async unbind(ctx) {
      await ctx.step('revoke', call => backend.drop(bindingThing(ctx.instance.id, ctx.binding.id), call.fence))
    },
    ...(observes || heals ? { observeEvery: heals ? '5s' : '40s', observe } : {}),
  })

  async function observe(ctx: ObserveContext<JsonObject, JsonObject>): Promise<ObserveResult> {
    for (const { binding } of heals ? await ctx.bindings() : []) {
      const thing = bindingThing(ctx.instance.id, binding.id)
      await ctx.step(`heal ${binding.id}`, call => backend.put(thing, 'yes', call.fence))
    }
    return { ready: await backend.has(partsOf(ctx)) }
  }
}

function partsOf({ instance }: ActionContext): readonly string[] {
  return parts.map(part => `${instance.id}/${part}`)
}

export function bindingThing(instanceId: string, bindingId: string): string {
  return `${instanceId}/binding ${bindingId}`
}

function sizeOf({ instance }: ActionContext): string {
  return String(instance.parameters.size ?? 'default')
}
