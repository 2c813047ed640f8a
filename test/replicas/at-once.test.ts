import { expect, it } from 'vitest'
import type { OsbClient } from '../../src/client/index.ts'
import type { Service } from '../../src/index.ts'
import type { Settings } from '../../src/settings/settings.ts'
import { openMongoStore } from '../../src/store/mongodb/index.ts'
import { openPostgresStore } from '../../src/store/postgres/index.ts'
import type { Store } from '../../src/store.ts'
import { ids, incomplete } from '../engine/world.ts'
import { describeSharedMongo, newDatabase } from '../store/mongodb-subject.ts'
import { describeSharedPostgres, newSchema, patient } from '../store/postgres-subject.ts'
import { ended, type Replica, startReplica } from './broker.ts'

const count = 50
const settings: Settings = { engine: { lease: '60s', callTimeout: '20s' }, server: { syncTimeout: '60s' } }

type Backend = ReturnType<typeof createBackend>

/** What was done, and by how many at the same time. */
function createBackend() {
  const calls: string[] = []
  const things = new Map<string, unknown>()
  const service: Partial<Service> = {
    bind: async () => ({ credentials: {} }),
    unbind: async () => {},
    async provision(ctx) {
      const { id, parameters } = ctx.instance
      await ctx.step('create', async () => {
        calls.push(`create ${id}`)
        things.set(id, parameters)
      })
    },
    async deprovision(ctx) {
      const { id } = ctx.instance
      await ctx.step('delete', async () => {
        calls.push(`delete ${id}`)
        things.delete(id)
      })
    },
  }
  return { calls, things, service }
}

function tests(openers: () => () => Promise<Store>): void {
  const boot = async (): Promise<{ replicas: readonly Replica[]; backend: Backend }> => {
    const backend = createBackend()
    const open = openers()
    const replicas: Replica[] = []
    for (let index = 0; index < 3; index += 1)
      replicas.push(await startReplica(open, { service: backend.service, settings }))
    return { replicas, backend }
  }
  /** The same request to each of the three replicas in turn, all at once. */
  const storm = <T>(replicas: readonly Replica[], send: (client: OsbClient, index: number) => Promise<T>) =>
    Promise.all(
      Array.from({ length: count }, (_, index) => {
        const replica = replicas[index % replicas.length]
        if (replica === undefined) throw new Error('no replica')
        return send(replica.client, index)
      }),
    )

  it('50 equal PUTs over three replicas make one provision, and all answers agree', async () => {
    const { replicas, backend } = await boot()
    const answers = await storm(replicas, client => client.provision('i', ids, incomplete))
    const [{ store, client }] = replicas as [Replica]
    const operation = (await store.instance('i'))?.lastOperationId ?? ''
    // Those that came when it had succeeded already are told so.
    for (const { status, body } of answers) {
      expect([200, 202]).toContain(status)
      if (status === 202) expect(body.operation).toBe(operation)
    }
    expect(answers.filter(({ status }) => status === 202).length).toBeGreaterThan(0)
    expect(await ended(client, 'i', operation)).toBe('succeeded')
    expect(backend.calls).toEqual(['create i'])
    expect((await store.history('i')).map(({ type }) => type)).toEqual(['accepted', 'succeeded'])
  })

  it('50 PUTs with different parameters: one wins, the others are refused', async () => {
    const { replicas, backend } = await boot()
    const answers = await storm(replicas, (client, index) =>
      client.provision('i', { ...ids, parameters: { index } }, incomplete),
    )
    const [{ store, client }] = replicas as [Replica]
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter(status => status === 202)).toHaveLength(1)
    expect(statuses.filter(status => status === 409)).toHaveLength(count - 1)
    const winner = statuses.indexOf(202)
    const operation = (await store.instance('i'))?.lastOperationId ?? ''
    expect(answers[winner]?.body.operation).toBe(operation)
    expect(await ended(client, 'i', operation)).toBe('succeeded')
    expect([...backend.things]).toEqual([['i', { index: winner }]])
  })

  it('50 DELETEs are one deletion', async () => {
    const { replicas, backend } = await boot()
    const [{ store, client }] = replicas as [Replica]
    expect((await client.provision('i', ids)).status).toBe(201)
    const answers = await storm(replicas, each => each.deprovision('i', ids, incomplete))
    const operation = (await store.instance('i'))?.lastOperationId ?? ''
    // Those that came when it was gone already are told so.
    for (const { status, body } of answers) {
      expect([202, 410]).toContain(status)
      if (status === 202) expect(body.operation).toBe(operation)
    }
    expect(await ended(client, 'i', operation)).toBe('succeeded')
    expect(backend.calls).toEqual(['create i', 'delete i'])
  })

  it('PUTs and DELETEs of one id at once: nothing is left behind, and every 202 ends', async () => {
    const { replicas, backend } = await boot()
    const [{ store, client }] = replicas as [Replica]
    const accepted = new Set<string>()
    for (let round = 0; round < 3; round += 1) {
      const answers = await storm(replicas, (each, index) =>
        index % 2 === 0 ? each.provision('i', ids, incomplete) : each.deprovision('i', ids, incomplete),
      )
      for (const { status, body } of answers) {
        expect([200, 202, 409, 410, 422]).toContain(status)
        if (typeof body.operation === 'string') accepted.add(body.operation)
      }
    }
    const last = await client.deprovision('i', ids, incomplete)
    // 200: a creation that had not begun, since what was deleted before is still swept.
    expect([200, 202, 410]).toContain(last.status)
    if (typeof last.body.operation === 'string') accepted.add(last.body.operation)
    for (const operation of accepted) expect(['succeeded', 'failed']).toContain(await ended(client, 'i', operation))
    expect((await store.instance('i'))?.phase).toBe('deleted')
    expect([...backend.things]).toEqual([])
    const ends = (await store.history('i')).filter(({ type }) => type !== 'accepted').map(event => event.operationId)
    expect(new Set(ends).size).toBe(ends.length)
  })

  it('50 synchronous PUTs wait for the operation of whichever replica, and agree', async () => {
    const { replicas, backend } = await boot()
    const answers = await storm(replicas, client => client.provision('i', ids))
    for (const { status, text } of answers) expect([200, 201], text).toContain(status)
    expect(backend.calls).toEqual(['create i'])
    const gone = await storm(replicas, client => client.deprovision('i', ids))
    for (const { status, text } of gone) expect([200, 410], text).toContain(status)
    expect(gone.some(({ status }) => status === 200)).toBe(true)
    expect(backend.calls).toEqual(['create i', 'delete i'])
  })

  it('50 equal binds make one binding', async () => {
    const { replicas } = await boot()
    const [{ store, client }] = replicas as [Replica]
    expect((await client.provision('i', ids)).status).toBe(201)
    const answers = await storm(replicas, each => each.bind('i', 'b', ids, incomplete))
    for (const { status, text } of answers) expect([200, 202], text).toContain(status)
    const accepted = answers.filter(({ status }) => status === 202).map(({ body }) => body.operation)
    expect(new Set(accepted).size).toBe(1)
    const history = (await store.history('i')).filter(({ action }) => action === 'bind')
    expect(history.filter(({ type }) => type === 'accepted')).toHaveLength(1)
  })
}

describeSharedPostgres('many requests at once over three replicas on PostgreSQL', server =>
  tests(() => {
    const schema = newSchema()
    return () => openPostgresStore({ url: server.url, schema, ...patient })
  }),
)

describeSharedMongo('many requests at once over three replicas on MongoDB', server =>
  tests(() => {
    const database = newDatabase()
    return () => openMongoStore({ url: server().url, database, connectTimeout: '60s', statementTimeout: '60s' })
  }),
)
