/** The OSB API as an OpenAPI document would describe its requests; `test/routes/fuzz.test.ts` compares it with the routes of the broker. */
import type { Described, Description } from './described.ts'

const text = { type: 'string' } as const
const object = { type: 'object' } as const
const flag = { type: 'boolean' } as const

const inPath = (name: string) => ({ in: 'path', name, required: true, schema: text }) as const
const inQuery = (name: string, schema: object = text, required = false) =>
  ({ in: 'query', name, required, schema }) as const
const identified = [inQuery('service_id', text, true), inQuery('plan_id', text, true)]
const incomplete = inQuery('accepts_incomplete', flag)

const body = (required: readonly string[], properties: Readonly<Record<string, object>>) => ({
  required: true,
  content: { 'application/json': { schema: { type: 'object', required, properties } } },
})

const maintenance = { type: 'object', properties: { version: text }, required: ['version'] }
const instance = [inPath('instance')]
const binding = [inPath('instance'), inPath('binding')]

const paths: Readonly<Record<string, Readonly<Record<string, Described>>>> = {
  '/v2/catalog': { get: { parameters: [] } },
  '/v2/service_instances/{instance}': {
    put: {
      parameters: [...instance, incomplete],
      requestBody: body(['service_id', 'plan_id', 'organization_guid', 'space_guid'], {
        service_id: text,
        plan_id: text,
        organization_guid: text,
        space_guid: text,
        context: object,
        parameters: object,
        maintenance_info: maintenance,
      }),
    },
    get: { parameters: [...instance, inQuery('service_id'), inQuery('plan_id')] },
    patch: {
      parameters: [...instance, incomplete],
      requestBody: body(['service_id'], {
        service_id: text,
        plan_id: text,
        context: object,
        parameters: object,
        previous_values: object,
        maintenance_info: maintenance,
      }),
    },
    delete: { parameters: [...instance, ...identified, incomplete] },
  },
  '/v2/service_instances/{instance}/last_operation': {
    get: { parameters: [...instance, inQuery('service_id'), inQuery('plan_id'), inQuery('operation')] },
  },
  '/v2/service_instances/{instance}/service_bindings/{binding}': {
    put: {
      parameters: [...binding, incomplete],
      requestBody: body(['service_id', 'plan_id'], {
        service_id: text,
        plan_id: text,
        context: object,
        app_guid: text,
        bind_resource: { type: 'object', properties: { app_guid: text, route: text } },
        parameters: object,
        predecessor_binding_id: text,
      }),
    },
    get: { parameters: [...binding, inQuery('service_id'), inQuery('plan_id')] },
    delete: { parameters: [...binding, ...identified, incomplete] },
  },
  '/v2/service_instances/{instance}/service_bindings/{binding}/last_operation': {
    get: { parameters: [...binding, inQuery('service_id'), inQuery('plan_id'), inQuery('operation')] },
  },
}

export const osbDescription: Description = { paths }
