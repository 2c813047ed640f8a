import type { Clock } from '../../src/clock.ts'
import { type Service, TerminalError } from '../../src/index.ts'
import { serviceOf } from '../engine/world.ts'

/** What becomes of one call. `late` lands after callTimeout, and at most twice that after its start. */
export type Fault = 'ok' | 'error' | 'lost' | 'late' | 'refused'

/** A remote system on the world's clock: what was sent to it happens, whether its caller still lives or not. */
export interface Backend {
  readonly things: ReadonlyMap<string, string>
  /** What becomes of the next calls, in order; the ones after them are ok. */
  plan(faults: readonly Fault[]): void
  put(name: string, value: string): Promise<void>
  drop(name: string): Promise<void>
}

const usualMs = 2_000
/** The last moment that the sweep promises to wait for. */
const lateMs = 24_000

export function createBackend(clock: Clock): Backend {
  const things = new Map<string, string>()
  let faults: Fault[] = []

  function call(effect: () => void): Promise<void> {
    const fault = faults.shift() ?? 'ok'
    return new Promise((resolve, reject) => {
      clock.after(fault === 'late' ? lateMs : usualMs, () => {
        if (fault === 'refused') return reject(new TerminalError('The backend does not want to.'))
        if (fault === 'error') return reject(new Error('no effect'))
        effect()
        if (fault === 'lost') reject(new Error('the answer was lost'))
        else resolve()
      })
    })
  }

  return {
    things,
    plan(next) {
      faults = [...next]
    },
    put: (name, value) => call(() => void things.set(name, value)),
    drop: name => call(() => void things.delete(name)),
  }
}

export const parts = ['network', 'disk', 'database'] as const

/** Three steps to create and to drop, one to change; a binding is one thing. A shared one, where it is asked for. */
export function createModelService(backend: Backend, shared: boolean): Service {
  return serviceOf({
    bindable: true,
    actions: { provision: { timeout: '4m' }, update: { timeout: '4m' }, bind: { timeout: '4m' } },
    async provision(ctx) {
      if (shared) await ctx.share('shared', () => backend.put('shared', 'yes'))
      for (const part of parts)
        await ctx.step(part, () => backend.put(`${ctx.instance.id}/${part}`, sizeOf(ctx.instance.parameters)))
      return { state: { name: ctx.instance.id } }
    },
    async update(ctx) {
      for (const part of parts)
        await ctx.step(part, () => backend.put(`${ctx.instance.id}/${part}`, sizeOf(ctx.instance.parameters)))
    },
    async deprovision(ctx) {
      for (const part of parts.toReversed()) await ctx.step(part, () => backend.drop(`${ctx.instance.id}/${part}`))
      if (shared) await ctx.unshare('shared', () => backend.drop('shared'))
    },
    async bind(ctx) {
      await ctx.step('grant', () => backend.put(`${ctx.instance.id}/binding ${ctx.binding.id}`, 'granted'))
      return { credentials: { user: ctx.binding.id } }
    },
    async unbind(ctx) {
      await ctx.step('revoke', () => backend.drop(`${ctx.instance.id}/binding ${ctx.binding.id}`))
    },
  })
}

function sizeOf({ size }: { readonly size?: unknown }): string {
  return String(size ?? 'default')
}
