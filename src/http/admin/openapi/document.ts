import type { JsonObject } from '../../../protocol/json.ts'
import { type Described, describe } from '../../../shape/describe.ts'
import type { Shape } from '../../../shape/shape.ts'
import type { AdminRoute, AdminRoutes } from '../routes.ts'
import { type RouteDescription, routeDescriptions } from './describe-routes.ts'
import { ref, schemas } from './schemas.ts'

/** One of them is enough. Which ones a broker takes, its operator decides. */
const securitySchemes = {
  basic: { type: 'http', scheme: 'basic' },
  bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'purser',
    description:
      'A session of the console. Over TLS the name begins with `__Host-`, or `__Secure-` where the broker is below a path.',
  },
  certificate: { type: 'mutualTLS' },
}

/** The operators' API as OpenAPI 3.1, made of the routes themselves and of the shapes that requests are read with. */
export function toOpenApi(routes: AdminRoutes, version: string): JsonObject {
  const paths: Record<string, JsonObject> = {}
  for (const [key, route] of Object.entries(routes)) {
    const described = routeDescriptions[key]
    if (described === undefined) throw new Error(`the route ${key} is not described`)
    const name = key.replace(/^\w+ /, '').replaceAll(/:(\w+)/g, '{$1}')
    paths[name] = { ...paths[name], [route.method.toLowerCase()]: toOperation(key, route, described) }
  }
  return {
    openapi: '3.1.0',
    info: { title: "Purser's API for operators", version },
    security: Object.keys(securitySchemes).map(name => ({ [name]: [] })),
    paths,
    components: { schemas, securitySchemes },
  }
}

function toOperation(path: string, { role }: AdminRoute, described: RouteDescription): JsonObject {
  const { summary, query, body, status = 200, orElse, answer, streams, file } = described
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => parameter('path', name ?? '', { type: 'string' }))
  const inQuery = (query === undefined ? [] : describe(query).wire).map(({ name, field }) =>
    parameter('query', name, toSchema(field)),
  )
  const resume = streams ? [parameter('header', 'Last-Event-ID', { type: 'string' })] : []
  const content = {
    ...(answer !== undefined && { 'application/json': { schema: ref(answer) } }),
    ...(streams && { 'text/event-stream': { schema: { type: 'string' } } }),
    ...(file !== undefined && { [file]: { schema: { type: 'string' } } }),
  }
  return {
    summary,
    description: `Needs the role ${role}.`,
    parameters: [...inPath, ...inQuery, ...resume],
    ...(body !== undefined && {
      requestBody: {
        required: describe(body).wire.some(({ field }) => !field.optional),
        content: { 'application/json': { schema: toObjectSchema(body) } },
      },
    }),
    responses: {
      [status]: { description: summary, content },
      ...(orElse && { [orElse.status]: { description: orElse.when, content } }),
      ...(streams && { 204: { description: 'There is nothing more to follow' } }),
      default: {
        description: 'A refusal (RFC 9457)',
        content: { 'application/problem+json': { schema: ref('Problem') } },
      },
    },
  }
}

function parameter(where: 'path' | 'query' | 'header', name: string, schema: JsonObject): JsonObject {
  return { in: where, name, required: where === 'path', schema }
}

function toObjectSchema(shape: Shape): JsonObject {
  return { ...toFields(describe(shape)), additionalProperties: false }
}

function toFields({ wire }: Described): JsonObject {
  return {
    type: 'object',
    properties: Object.fromEntries(wire.map(({ name, field }) => [name, toSchema(field)])),
    required: wire.filter(({ field }) => !field.optional).map(({ name }) => name),
  }
}

/** The rule says in words what a field may be. */
function toSchema(described: Described): JsonObject {
  const { item, isList, fields, info } = described
  const { kind, rule = '' } = info
  if (item !== undefined && isList) return { type: 'array', items: toSchema(item) }
  if (fields !== undefined) return toFields(described)
  if (item !== undefined || rule.startsWith('a map')) return { type: 'object', description: rule }
  if (kind === 'choice') return { type: 'string', enum: rule.split(' or ') }
  if (kind === 'flag') return { type: 'boolean' }
  const [, minimum, maximum] = /from (\d+) to (\d+)/.exec(rule) ?? []
  if (kind === 'number') return { type: 'integer', minimum: Number(minimum), maximum: Number(maximum) }
  return { type: 'string', description: rule }
}
