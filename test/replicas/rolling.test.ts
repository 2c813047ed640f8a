import { connect as connectSocket } from 'node:net'
import { expect, it } from 'vitest'
import { createOsbClient, type OsbClient } from '../../src/client/index.ts'
import { openPostgresStore } from '../../src/store/postgres/index.ts'
import type { Store } from '../../src/store.ts'
import { useBuiltPackage } from '../cli/built-package.ts'
import { ids, incomplete } from '../engine/world.ts'
import type { PostgresServer } from '../external/postgres.ts'
import { connect } from '../external/postgres-connection.ts'
import { startProxy } from '../store/postgres-proxy.ts'
import { describePostgres, newSchema, openStore } from '../store/postgres-subject.ts'
import { until } from './broker.ts'
import { startLoadBalancer } from './load-balancer.ts'
import { makeDeployment, type Process } from './processes.ts'

const built = useBuiltPackage()
const leaseMs = 12_000
const pollMs = 250

/** For tests without a load balancer. */
const atOnce = { shutdownDelay: '0s' }

function settingsOf(store: string, schema: string, more: object = {}): object {
  return {
    store,
    ledger: { schema },
    server: { ...atOnce, shutdownGrace: '300ms' },
    osb: { requireOrgAndSpace: false },
    engine: { lease: `${leaseMs}ms`, callTimeout: '4s', pollInterval: `${pollMs}ms` },
    log: { format: 'json' },
    ...more,
  }
}

/** Notes every claim in the ledger itself, with when it became due by the ledger's own clock. */
async function auditClaims({ url }: PostgresServer, schema: string) {
  await (await openPostgresStore({ url, schema })).close()
  const admin = await connect(url)
  await admin.query({
    text: `create table ${schema}.audit (id text, waited double precision, taken_over boolean);
      create function ${schema}.note_claim() returns trigger language plpgsql as $$ begin
        insert into ${schema}.audit values (new.id, ${schema}.now_ms() - old.due_at, old.state = 'running');
        return null;
      end $$;
      create function ${schema}.note_lease() returns trigger language plpgsql as $$ begin
        insert into ${schema}.audit values (new.id, 0, false);
        return null;
      end $$;
      create trigger note_lease after insert on ${schema}.operation for each row
        when (new.fence > 0) execute function ${schema}.note_lease();
      create trigger note_claim after update on ${schema}.operation for each row
        when (new.fence <> old.fence) execute function ${schema}.note_claim()`,
  })
  return async () => {
    const { rows } = await admin.query({ text: `select waited, taken_over from ${schema}.audit` })
    await admin.end()
    return rows.map(row => ({ waited: Number(row.waited), takenOver: row.taken_over }))
  }
}

/** Sends to any replica that answers, as a platform behind a load balancer does, until the answer is no 5xx. */
async function send<Answer extends { readonly status: number }>(
  replicas: readonly Process[],
  request: (client: OsbClient) => Promise<Answer>,
): Promise<Answer> {
  return until(async () => {
    const living = replicas.filter(replica => !replica.hasEnded())
    const replica = living[Math.floor(Math.random() * living.length)]
    if (replica === undefined) return undefined
    const answer = await request(replica.client).catch(() => undefined)
    return answer === undefined || answer.status >= 500 ? undefined : answer
  })
}

async function endOf(replicas: readonly Process[], id: string, operation: string): Promise<string> {
  return until(async () => {
    const { status, body } = await send(replicas, client => client.lastOperation(id, { operation }))
    if (status !== 200) throw new Error(`the poll of ${id} was answered ${status}`)
    return body.state === 'in progress' ? undefined : body.state
  })
}

describePostgres('replicas that are stopped', server => {
  it('one after the other: no answered request is lost, and none waits longer than a lease', async () => {
    const schema = newSchema()
    const readClaims = await auditClaims(server, schema)
    const deployment = await makeDeployment(built, settingsOf(server.url, schema))
    const replicas: Process[] = []
    for (let index = 0; index < 3; index += 1) replicas.push(await deployment.start())

    let rolling = true
    let next = 0
    const accepted = new Map<string, string>()
    const ends: string[] = []
    const platform = async (): Promise<void> => {
      while (rolling) {
        const id = `i${next++}`
        const body = { ...ids, parameters: { stepMs: next % 2 === 0 ? 1_500 : 50 } }
        // Every fifth waits for its answer.
        const options = next % 5 === 0 ? {} : incomplete
        const answer = await send(replicas, client => client.provision(id, body, options))
        expect([200, 201, 202]).toContain(answer.status)
        if (typeof answer.body.operation !== 'string') continue
        accepted.set(id, answer.body.operation)
        ends.push(await endOf(replicas, id, answer.body.operation))
      }
    }
    const platforms = Promise.all(Array.from({ length: 12 }, platform))
    for (let index = 0; index < 3; index += 1) {
      const old = replicas[index] as Process
      const before = accepted.size
      await until(async () => accepted.size > before + 10)
      replicas.push(await deployment.start())
      // The new one is there, and the old one still accepts: that work is everybody's.
      const late = await old.client.provision(`late-${index}`, ids, incomplete)
      old.signal('SIGTERM')
      expect(late.status).toBe(202)
      accepted.set(`late-${index}`, late.body.operation ?? '')
      expect(await old.ended).toBe(0)
      expect(old.log.at(-1)).toContain('"stopped"')
    }
    rolling = false
    await platforms
    expect(new Set(ends)).toEqual(new Set(['succeeded']))

    const store = await openStore({ url: server.url, schema })
    for (const [id, operation] of accepted)
      await until(
        async () => (await store.operation(operation))?.state === 'succeeded' || failIfEnded(store, id, operation),
      )
    const attempts = await Promise.all(
      [...accepted.values()].map(async id => (await store.operation(id))?.attempt ?? 0),
    )
    expect(Math.max(...attempts), 'some were handed back in the middle').toBeGreaterThan(1)
    const claims = await readClaims()
    expect(claims.length).toBeGreaterThanOrEqual(accepted.size)
    expect(claims.filter(({ takenOver }) => takenOver)).toEqual([])
    expect(Math.max(...claims.map(({ waited }) => waited))).toBeLessThanOrEqual(leaseMs + pollMs)
  })

  it('behind a load balancer: no refused connection and no failed request', async () => {
    // Ten times what the load balancer needs to notice, on a machine that is busy.
    const { start } = await makeDeployment(
      built,
      settingsOf(server.url, newSchema(), { server: { shutdownDelay: '10s' } }),
    )
    const balancer = await startLoadBalancer()
    const add = async () => {
      const replica = await start()
      balancer.add(replica.url)
      await until(async () => balancer.ready.has(replica.url))
      return replica
    }
    const old = [await add(), await add(), await add()]
    const client = createOsbClient({ url: balancer.url, timeout: 120_000 })

    let rolling = true
    let answered = 0
    const statuses = new Set<number>()
    const ask = async <Answer extends { readonly status: number }>(request: Promise<Answer>): Promise<Answer> => {
      const answer = await request
      statuses.add(answer.status)
      answered += 1
      return answer
    }
    const platform = async (name: number): Promise<void> => {
      for (let turn = 0; rolling; turn += 1) {
        const id = `i${name}-${turn}`
        await ask(client.catalog())
        // Every third waits for its answer.
        const options = turn % 3 === 0 ? {} : incomplete
        const { body } = await ask(client.provision(id, { ...ids, parameters: { stepMs: 100 } }, options))
        const { operation } = body
        if (typeof operation !== 'string') continue
        await until(async () => (await ask(client.lastOperation(id, { operation }))).body.state === 'succeeded')
      }
    }
    const platforms = Promise.all(Array.from({ length: 8 }, (_, name) => platform(name)))
    platforms.catch(() => {})
    const ends: Promise<number | string | null>[] = []
    for (const replica of old) {
      const before = answered
      await until(async () => answered > before + 100)
      await add()
      replica.signal('SIGTERM')
      await until(async () => !balancer.ready.has(replica.url))
      // It is there for whoever has not noticed yet, and lets go of connections that are kept alive.
      const late = await fetch(`${replica.url}/healthz`)
      expect([late.status, late.headers.get('connection')]).toEqual([200, 'close'])
      ends.push(replica.ended)
    }
    expect(await Promise.all(ends)).toEqual([0, 0, 0])
    const before = answered
    await until(async () => answered > before + 100)
    rolling = false
    await platforms
    expect(balancer.failures).toEqual([])
    expect([...statuses].sort()).toEqual([200, 201, 202])
  })

  it('a request that waits when SIGTERM comes gets its result, or is told to come again', async () => {
    const schema = newSchema()
    const deployment = await makeDeployment(
      built,
      settingsOf(server.url, schema, { server: { ...atOnce, shutdownGrace: '2s' } }),
    )
    const replica = await deployment.start()
    const store = await openStore({ url: server.url, schema })
    const waiting = [500, 3_900].map(stepMs =>
      fetch(`${replica.url}/v2/service_instances/i${stepMs}`, {
        method: 'PUT',
        headers: { 'x-broker-api-version': '2.17', 'content-type': 'application/json' },
        body: JSON.stringify({ ...ids, parameters: { stepMs } }),
      }),
    )
    const isRunning = async (id: string) => {
      const operation = (await store.instance(id))?.lastOperationId
      return operation !== undefined && (await store.operation(operation))?.state !== 'queued'
    }
    await until(async () => (await isRunning('i500')) && (await isRunning('i3900')))
    replica.signal('SIGTERM')
    await until(() => isRefused(replica.url))
    const [quick, slow] = await Promise.all(waiting)
    // A machine that is slow enough lets the first one wait too long as well.
    expect([201, 503]).toContain(quick?.status)
    expect(slow?.status).toBe(503)
    expect(slow?.headers.get('connection')).toBe('close')
    expect(Number(slow?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await slow?.json()).toMatchObject({ error: 'ShuttingDown' })
    expect(await replica.ended).toBe(0)
    const operation = (await store.instance('i3900'))?.lastOperationId ?? ''
    expect(await store.operation(operation)).toMatchObject({ state: 'queued', losses: 0 })
    const other = await deployment.start()
    expect(await endOf([other], 'i3900', operation)).toBe('succeeded')
    expect((await other.client.provision('i3900', { ...ids, parameters: { stepMs: 3_900 } })).status).toBe(200)
  })

  it('a second SIGTERM ends it at once', async () => {
    const schema = newSchema()
    const deployment = await makeDeployment(
      built,
      settingsOf(server.url, schema, { server: { ...atOnce, shutdownGrace: '1h' } }),
    )
    const replica = await deployment.start()
    const store = await openStore({ url: server.url, schema })
    const { body } = await replica.client.provision('i', { ...ids, parameters: { stepMs: 3_600_000 } }, incomplete)
    const operation = body.operation ?? ''
    await until(async () => (await store.operation(operation))?.state === 'running')
    replica.signal('SIGTERM')
    await until(() => isRefused(replica.url))
    // Signals that come together are one; the one that counts comes later.
    await until(async () => {
      replica.signal('SIGTERM')
      return replica.hasEnded()
    })
    expect(await replica.ended).toBe(130)
    expect((await store.operation(operation))?.state).toBe('running')
  })

  it('with a database that says nothing more, it ends all the same', async () => {
    const schema = newSchema()
    const proxy = await startProxy(server.url)
    const ledger = { schema, connectTimeout: '1s', statementTimeout: '1s' }
    const deployment = await makeDeployment(built, settingsOf(proxy.url, schema, { ledger }))
    const replica = await deployment.start()
    const { status } = await replica.client.provision('i', { ...ids, parameters: { stepMs: 3_600_000 } }, incomplete)
    expect(status).toBe(202)
    proxy.freeze()
    replica.signal('SIGTERM')
    expect(await replica.ended).toBe(0)
  })
})

async function failIfEnded(store: Store, id: string, operation: string): Promise<undefined> {
  const state = (await store.operation(operation))?.state
  if (state === 'failed' || state === 'superseded') throw new Error(`${id} is ${state}`)
  return undefined
}

function isRefused(url: string): Promise<boolean> {
  const { port, hostname } = new URL(url)
  return new Promise(resolve => {
    const socket = connectSocket(Number(port), hostname)
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.once('error', () => resolve(true))
  })
}
