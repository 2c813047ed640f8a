import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { defineService } from '../../src/author/define-service.ts'
import { TerminalError } from '../../src/engine/errors.ts'

const place = {
  type: 'string',
  enum: ['eu-west', 'us-east'],
  default: 'eu-west',
  description: 'Where it runs',
} as const

/** Every kind of field that a form has. */
const parameters = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', title: 'Name', minLength: 1, maxLength: 40, description: 'Shown to people' },
    region: place,
    storage: { type: 'integer', title: 'Storage in GB', minimum: 1, maximum: 500, default: 20 },
    backups: { type: 'boolean', title: 'Backups every night', default: true },
    users: { type: 'array', title: 'Users', items: { type: 'string' } },
    access: {
      title: 'Access',
      oneOf: [
        { title: 'Private', type: 'object', properties: { network: { type: 'string' } }, required: ['network'] },
        { title: 'Public', type: 'object', properties: { hosts: { type: 'array', items: { type: 'string' } } } },
      ],
    },
    chaos: { type: 'string', enum: ['none', 'retries', 'fails', 'held'], default: 'none' },
  },
  additionalProperties: false,
} as const

/** `folder` holds the switches of a test: `mended` is a file in it that ends all trouble. */
export function createServices(folder: string) {
  const isMended = () => existsSync(join(folder, 'mended'))
  const database = (id: string, name: string, hold: boolean) =>
    defineService({
      id,
      name,
      description: hold
        ? 'The same, which waits for an operator before it fails'
        : 'A database with everything it needs',
      hold,
      bindable: true,
      planUpdateable: true,
      tags: ['database', 'sql'],
      metadata: { displayName: hold ? 'Database, held' : 'Database' },
      plans: [
        { id: `${id}-small`, name: 'small', description: '1 CPU, 2 GB' },
        { id: `${id}-large`, name: 'large', description: '4 CPUs, 16 GB', free: false },
      ],
      parameters,
      actions: {
        provision: {
          async: 'always',
          retry: { initial: '300ms', factor: 1, max: '300ms', attempts: hold ? 2 : 10_000 },
        },
      },
      async provision(ctx) {
        await ctx.step('reserve quota', () => pause(40))
        await ctx.step('create volume', () => pause(160))
        await ctx.step('start server', async () => {
          const { chaos } = ctx.parameters
          await pause(chaos === 'retries' ? 450 : 60)
          if (chaos === 'fails' && !isMended()) throw new TerminalError('There is no capacity left in eu-west-1a.')
          if ((chaos === 'retries' || chaos === 'held') && !isMended())
            throw new Error('connect ECONNREFUSED 10.0.3.7:5432')
        })
        await ctx.step('create database', () => pause(90))
        await ctx.step('first backup', () => pause(50))
        return {
          state: { volume: `vol-${ctx.instance.id}`, server: 'db-7' },
          dashboardUrl: 'https://databases.example/db-7',
        }
      },
      async update(ctx) {
        await ctx.step('resize', () => pause(30))
      },
      async bind(ctx) {
        await ctx.step('create user', () => pause(20))
        return { credentials: { uri: 'postgres://db-7:5432/app', username: 'u-17', password: 'canary-s3cret' } }
      },
      async unbind(ctx) {
        await ctx.step('drop user', () => pause(10))
      },
      async deprovision(ctx) {
        await ctx.step('stop server', () => pause(30))
        await ctx.step('delete volume', () => pause(30))
      },
      observe: async () => ({ ready: true }),
    })
  const cache = defineService({
    id: 'cache',
    name: 'cache',
    description: 'Keeps what is asked for often',
    bindable: true,
    tags: ['memory'],
    metadata: { displayName: 'Cache' },
    plans: [{ id: 'cache-shared', name: 'shared', description: 'On a machine with others' }],
    async provision() {},
    async bind() {
      return { credentials: { host: 'cache.internal', port: 6379 } }
    },
    async unbind() {},
    async deprovision() {},
  })
  return [database('database', 'database', false), database('held-database', 'held-database', true), cache]
}
