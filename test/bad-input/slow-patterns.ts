/** What a pattern from a registry touches, in a process of its own: the usual engine would never end, and nothing could stop it. */
import { checkBundle } from '../../src/bundle/check-bundle.ts'
import { createParameterSchema } from '../../src/catalog/parameters.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { createFilter } from '../../src/registry/filter.ts'

const pattern = '^(a+)+$'
const text = `${'a'.repeat(40)}!`

async function check(parameters: unknown) {
  const plan = { name: 'default', description: 'The only plan', parameters }
  const source = { version: '1.0', name: 'demo-apb', description: 'A demo', plans: [plan] }
  const { bundle, problems } = await checkBundle(source, { where: 'bundle.yml', registry: 'r' })
  return { schema: bundle?.offering.plans[0]?.schemas?.serviceInstance?.create?.parameters, problems }
}

async function refuses(schema: JsonObject | undefined, parameters: JsonObject): Promise<boolean> {
  return schema !== undefined && !(await createParameterSchema(schema).check(parameters)).ok
}

const listed = { name: 'p', type: 'string', pattern }
const written = { type: 'object', properties: { p: { type: 'string', pattern } }, patternProperties: { [pattern]: {} } }
const withDefault = { type: 'object', properties: { p: { type: 'string', pattern, default: text } } }

console.log('a default in a list', (await check([{ ...listed, default: text }])).problems.length)
console.log('a default in a schema', (await check(withDefault)).problems.length)
console.log('a user, by a list', await refuses((await check([listed])).schema, { p: text }))
console.log('a user, by a schema', await refuses((await check(written)).schema, { p: text, [text]: 1 }))
console.log('a name of a registry', createFilter({ whiteList: [pattern], blackList: [] })(text))
