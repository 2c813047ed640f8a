import { z } from 'zod'
import { defineService, type Service } from '../../src/index.ts'
import type { Backend } from './backend.ts'

/** Ids that tests use; `full` has everything, the others each have the one trait their name says. */
export const full = { service_id: 'full', plan_id: 'full-small' }
export const org = { organization_guid: 'org-1', space_guid: 'space-1' }

/** Minimal service definitions with one thing special each; all of them do their work in one step on the backend. */
export function createServices(backend: Backend): Service[] {
  const actions = (more: { readonly bindable: boolean }) => ({
    async provision(ctx: Parameters<Service['provision']>[0]) {
      await ctx.step('create', call =>
        backend.perform('provision', ctx.instance.id, call.signal, things => things.add(`instance:${ctx.instance.id}`)),
      )
      ctx.describe('created')
      return { dashboardUrl: `https://dashboard.example/${ctx.instance.id}`, state: { name: `db-${ctx.instance.id}` } }
    },
    async deprovision(ctx: Parameters<Service['deprovision']>[0]) {
      await ctx.step('drop', call =>
        backend.perform('deprovision', ctx.instance.id, call.signal, things =>
          things.delete(`instance:${ctx.instance.id}`),
        ),
      )
    },
    ...(more.bindable
      ? {
          async bind(ctx: Parameters<NonNullable<Service['bind']>>[0]) {
            await ctx.step('role', call =>
              backend.perform('bind', ctx.binding.id, call.signal, things => things.add(`binding:${ctx.binding.id}`)),
            )
            return (
              backend.bindResult ?? {
                credentials: { username: ctx.binding.id, password: `secret-${ctx.binding.id}` },
                endpoints: [{ host: 'db.example', ports: ['5432'] }],
                state: { role: ctx.binding.id },
              }
            )
          },
          async unbind(ctx: Parameters<NonNullable<Service['unbind']>>[0]) {
            await ctx.step('drop role', call =>
              backend.perform('unbind', ctx.binding.id, call.signal, things =>
                things.delete(`binding:${ctx.binding.id}`),
              ),
            )
          },
        }
      : {}),
  })
  const update = async (ctx: Parameters<NonNullable<Service['update']>>[0]) => {
    await ctx.step('change', call => backend.perform('update', ctx.instance.id, call.signal, () => {}))
  }
  const plan = (id: string) => ({ id, name: id, description: `The plan ${id}` })
  const service = (id: string) => ({ id, name: id, description: `The service ${id}`, plans: [plan(`${id}-plan`)] })

  return [
    defineService({
      id: 'full',
      name: 'full',
      description: 'Everything that 2.17 has',
      bindable: true,
      planUpdateable: true,
      dashboard: 'redirect',
      allowContextUpdates: true,
      tags: ['test'],
      metadata: { displayName: 'Full', longDescription: 'All of it', shareable: true },
      plans: [
        {
          id: 'full-small',
          name: 'small',
          description: 'Small',
          free: true,
          bindingRotatable: true,
          maximumPollingDuration: 3600,
          maintenanceInfo: { version: '1.2.3+build.1', description: 'No downtime' },
          metadata: { bullets: ['one'], costs: [{ amount: { usd: 1.5 }, unit: 'MONTHLY' }] },
        },
        { id: 'full-large', name: 'large', description: 'Large', free: false, maintenanceInfo: { version: '2.0.0' } },
        { id: 'full-fixed', name: 'fixed', description: 'Cannot be left', planUpdateable: false },
        { id: 'full-unbindable', name: 'unbindable', description: 'Cannot be bound', bindable: false },
      ],
      parameters: z.object({ size: z.number().int().min(1).max(10).default(1), name: z.string().optional() }),
      bindParameters: z.object({ readonly: z.boolean().default(false) }),
      ...actions({ bindable: true }),
      update,
    }),
    defineService({
      ...service('always-async'),
      bindable: true,
      actions: {
        provision: { async: 'always' },
        update: { async: 'always' },
        deprovision: { async: 'always' },
        bind: { async: 'always' },
        unbind: { async: 'always' },
      },
      ...actions({ bindable: true }),
      update,
    }),
    defineService({
      ...service('always-sync'),
      bindable: true,
      actions: {
        provision: { async: 'never' },
        update: { async: 'never' },
        deprovision: { async: 'never' },
        bind: { async: 'never' },
        unbind: { async: 'never' },
      },
      ...actions({ bindable: true }),
      update,
    }),
    defineService({
      ...service('plain'),
      bindable: false,
      instancesRetrievable: false,
      ...actions({ bindable: false }),
    }),
    defineService({ ...service('app-only'), bindable: true, requiresApp: true, ...actions({ bindable: true }) }),
    defineService({ ...service('drain'), bindable: true, requires: ['syslog_drain'], ...actions({ bindable: true }) }),
    defineService({
      ...service('route'),
      bindable: true,
      requires: ['route_forwarding'],
      ...actions({ bindable: true }),
    }),
    defineService({ ...service('volume'), bindable: true, requires: ['volume_mount'], ...actions({ bindable: true }) }),
    defineService({
      ...service('client'),
      bindable: true,
      bindingsRetrievable: false,
      dashboardClient: { id: 'dash', secret: 'dash-secret', redirectUri: 'https://dashboard.example' },
      dashboard: instance => `https://known.example/${instance.id}`,
      ...actions({ bindable: true }),
    }),
  ]
}
