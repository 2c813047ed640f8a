import { setTimeout as pause } from 'node:timers/promises'
import { defineService, type Service, TerminalError } from '../../src/index.ts'
import { monotonicNow } from './record.ts'
import type { CallRequest } from './settings.ts'

export const serviceId = 'storm'
/** How an instance is made: in steps; in steps and with something that all of its kind share; in one go, without steps. */
export const plans = ['steps', 'shared', 'raw'] as const
export type PlanId = (typeof plans)[number]

export const sharedName = 'shared by many'
export const gateName = 'gate'
export const bindingName = (instance: string, binding: string) => `${instance}/binding ${binding}`
export const partNames = (instance: string) => ['network', 'disk', 'database'].map(part => `${instance}/${part}`)

type Made = Pick<CallRequest, 'key' | 'fence'> & { readonly signal: AbortSignal }

/** Tells the backend; an answer that lasts longer than the call may is none. */
export function createBackendClient(url: string, callTimeoutMs: number) {
  async function send(kind: CallRequest['kind'], name: string, call: Made, value?: string): Promise<void> {
    const { key, fence, signal } = call
    const body: CallRequest = { kind, name, key, fence, sentAt: monotonicNow(), ...(value ? { value } : {}) }
    const { status } = await fetch(url, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: kind === 'look' ? signal : AbortSignal.any([signal, AbortSignal.timeout(callTimeoutMs)]),
    })
    if (status === 400) throw new TerminalError('The backend does not want to.')
    if (status !== 200) throw new Error(`the backend answered ${status}`)
  }
  return {
    put: (name: string, value: string, call: Made) => send('put', name, call, value),
    drop: (name: string, call: Made) => send('drop', name, call),
    look: (name: string, call: Made) => send('look', name, call),
  }
}

export function createStormService(backend: ReturnType<typeof createBackendClient>): Service {
  return defineService({
    id: serviceId,
    name: serviceId,
    description: 'Things in a backend that goes wrong',
    bindable: true,
    planUpdateable: false,
    plans: plans.map(id => ({ id, name: id, description: id })),
    async provision(ctx) {
      const { id, planId, parameters } = ctx.instance
      const size = String(parameters.size)
      if (planId === 'raw') {
        const raw = { key: ctx.operation.id, fence: ctx.operation.fence, signal: ctx.signal }
        for (const name of partNames(id)) {
          await backend.put(name, size, raw)
          await backend.look(`${name} ${gateName}`, raw)
        }
        return { state: { size } }
      }
      await ctx.saveState({ begun: ctx.operation.id })
      if (planId === 'shared') await ctx.share(sharedName, call => backend.put(sharedName, 'yes', call))
      for (const name of partNames(id)) {
        ctx.describe(`making ${name}`)
        await ctx.step(name, call => backend.put(name, size, call))
      }
      return { state: { size } }
    },
    async update(ctx) {
      const size = String(ctx.instance.parameters.size)
      for (const name of partNames(ctx.instance.id)) await ctx.step(name, call => backend.put(name, size, call))
      return { state: { size } }
    },
    async deprovision(ctx) {
      const { id, planId } = ctx.instance
      for (const name of partNames(id).toReversed()) await ctx.step(name, call => backend.drop(name, call))
      if (planId === 'shared') await ctx.unshare(sharedName, call => backend.drop(sharedName, call))
    },
    async bind(ctx) {
      const name = bindingName(ctx.instance.id, ctx.binding.id)
      await ctx.step('grant', call => backend.put(name, 'granted', call))
      await ctx.step('settle', () => pause(5))
      return { credentials: { user: ctx.binding.id } }
    },
    async unbind(ctx) {
      await ctx.step('revoke', call => backend.drop(bindingName(ctx.instance.id, ctx.binding.id), call))
    },
  })
}
