/** How many statements an operation takes from its request to its end, where it comes alone. */
import { expect, it, onTestFinished } from 'vitest'
import { createBroker } from '../../src/create-broker.ts'
import { defineService } from '../../src/index.ts'
import { connect } from '../external/postgres-connection.ts'
import { openParts } from './postgres-parts.ts'
import { describePostgres, newSchema, openStore } from './postgres-subject.ts'

/** The accept that leases it at once, a checkpoint for each of its three steps, and its end. */
const perOperation = 5

const operations = 10

describePostgres('postgres: statements of an operation', server => {
  it(`of three steps: ${perOperation}, and none that looks for it or for what comes after it`, async () => {
    const { sent, provision } = await openBroker()
    for (let n = 0; n < operations; n++) await provision(`i-${n}`)
    expect(sent()).toEqual({ write: operations, gathered: operations * (perOperation - 1) })
  })

  it('of an update and of a deprovision without steps: a look more each, since they are decided from what is there', async () => {
    const { sent, provision, update, deprovision } = await openBroker()
    await provision('i')
    await update('i')
    await deprovision('i')
    expect(sent()).toEqual({ look: 2, write: 1, gathered: perOperation - 1 + perOperation + 2 })
  })

  it('and nobody is notified as long as no other replica listens', async () => {
    const schema = newSchema()
    const store = await openStore({ url: server.url, schema })
    const heard: (string | undefined)[] = []
    const other = await connect(server.url)
    other.on('notification', ({ payload }) => heard.push(payload))
    await other.query({ text: `listen "${schema}_wake_up"` })
    const { provision } = await openBroker(store)
    await provision('alone')
    expect(heard).toEqual([])
    await other.query({ text: `notify "${schema}_wake_up", 'hello'` })
    await expect.poll(() => heard).toContain('here')
    await provision('with another one')
    await expect.poll(() => heard.some(payload => payload?.startsWith('finished '))).toBe(true)
    expect(heard).not.toContain('work')
  })

  /** A broker on that store, or on one whose statements are counted, with nothing else to do. */
  async function openBroker(given?: Awaited<ReturnType<typeof openStore>>) {
    const schema = newSchema()
    const counts = new Map<string, number>()
    const openCounted = async () => {
      await (await openStore({ url: server.url, schema })).close()
      return openParts({
        url: server.url,
        schema,
        between: run => (statement, values) => {
          const name = statement.name?.replace('purser_', '') ?? ''
          if (ofOperations.includes(name)) counts.set(name, (counts.get(name) ?? 0) + 1)
          return run(statement, values)
        },
      })
    }
    const ended = new Map<string, () => void>()
    const steps = async (ctx: { step(name: string, fn: () => unknown): Promise<unknown> }) => {
      for (const name of ['one', 'two', 'three']) await ctx.step(name, () => name)
    }
    const service = defineService({
      id: 'service',
      name: 'service',
      description: 'Has three steps.',
      bindable: false,
      planUpdateable: true,
      plans: ['plan', 'other'].map(id => ({ id, name: id, description: 'A plan.' })),
      provision: steps,
      update: steps,
      deprovision: async () => {},
    })
    const broker = createBroker(
      { services: [service] },
      {
        store: given ?? (await openCounted()),
        authenticator: 'none',
        observer: { 'operation.succeeded': ({ instanceId }) => ended.get(instanceId)?.() },
        settings: { engine: { pollInterval: '1m' } },
      },
    )
    onTestFinished(() => broker.close())
    await broker.start()
    async function ask(method: string, id: string, query: string, body?: object): Promise<void> {
      const end = new Promise<void>(resolve => ended.set(id, resolve))
      const url = `http://localhost/v2/service_instances/${id}?accepts_incomplete=true${query}`
      const headers = { 'x-broker-api-version': '2.17', 'content-type': 'application/json' }
      const { status } = await broker.fetch(new Request(url, { method, headers, body: body && JSON.stringify(body) }))
      expect(status).toBe(202)
      await end
    }
    const provision = (id: string) =>
      ask('PUT', id, '', { service_id: 'service', plan_id: 'plan', organization_guid: 'o', space_guid: 's' })
    // Until the worker has seen that nothing is due, and the store what time it is.
    for (const id of ['first', 'second']) await provision(id)
    counts.clear()
    return {
      sent: () => Object.fromEntries(counts),
      provision,
      update: (id: string) => ask('PATCH', id, '', { service_id: 'service', plan_id: 'other' }),
      deprovision: (id: string) => ask('DELETE', id, '&service_id=service&plan_id=other'),
    }
  }
})

/** Not those of chores and of other reads. */
const ofOperations = 'look lookHeld write gathered claim renew checkpoint park handBack share operation'.split(' ')
