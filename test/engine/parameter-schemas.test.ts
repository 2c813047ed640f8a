import { expect, it } from 'vitest'
import { type Broker, createBroker } from '../../src/index.ts'
import { silent } from '../../src/observer.ts'
import { serviceOf } from './world.ts'

const plans = ['a', 'b', 'c'].map(id => ({ id, name: id, description: id, bindable: true }))

/** The lines of the error that a broker does not start with, without the first. */
async function problemsOf(schemas: object): Promise<readonly string[]> {
  const actions = { bind: async () => ({ credentials: {} }), async unbind() {}, async update() {} }
  const service = { ...serviceOf({ ...actions, ...schemas }), plans }
  const broker: Broker = createBroker(
    { services: [service] },
    { store: 'memory:', authenticator: 'none', observer: silent },
  )
  const error = await broker.start().then(
    () => undefined,
    (thrown: Error) => thrown,
  )
  await broker.close()
  return error?.message.split('\n').slice(1) ?? []
}

it.each<[object, string]>([
  [{ parameters: { type: 'strin' } }, 'service "service": "parameters" is not a valid JSON Schema: '],
  [{ updateParameters: { type: 'strin' } }, 'service "service": "updateParameters" is not a valid JSON Schema: '],
  [
    { bindParameters: { $ref: 'http://x.example' } },
    'service "service": "bindParameters" refers to "http://x.example"; ',
  ],
  [{ parameters: { parse() {} } }, 'service "service": "parameters" is neither JSON Schema nor a schema of a library '],
])('a wrong schema is told once, by its name in the service: %j', async (schemas, problem) => {
  expect(await problemsOf(schemas)).toEqual([expect.stringContaining(problem)])
})
