import { defineService, type Service } from '../../src/index.ts'

export const ids = { service_id: 'files', plan_id: 'plan' }

/** How long the first call of a creation takes where it is to be caught in the middle. */
const slowMs = 300

export interface FileBackend {
  put(name: string, takesMs: number): Promise<void>
  drop(name: string): Promise<void>
}

/** Things are files: two for an instance, one for a binding. */
export function serviceOf(backend: FileBackend): Service {
  return defineService({
    id: 'files',
    name: 'files',
    description: 'Files in a folder',
    bindable: true,
    plans: [{ id: 'plan', name: 'plan', description: 'A plan' }],
    async provision(ctx) {
      const { id, parameters } = ctx.instance
      await ctx.step('one', () => backend.put(`${id}.one`, parameters.slow === true ? slowMs : 0))
      await ctx.step('two', () => backend.put(`${id}.two`, 0))
    },
    async deprovision(ctx) {
      await ctx.step('two', () => backend.drop(`${ctx.instance.id}.two`))
      await ctx.step('one', () => backend.drop(`${ctx.instance.id}.one`))
    },
    async bind(ctx) {
      await ctx.step('grant', () => backend.put(`${ctx.instance.id}.${ctx.binding.id}`, 0))
      return { credentials: { user: ctx.binding.id } }
    },
    async unbind(ctx) {
      await ctx.step('revoke', () => backend.drop(`${ctx.instance.id}.${ctx.binding.id}`))
    },
  })
}
