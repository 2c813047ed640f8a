import { existsSync, statSync } from 'node:fs'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import Fastify from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { toExpress } from '../../src/http/express.ts'
import { toFastify } from '../../src/http/fastify.ts'
import type { Observer } from '../../src/observer.ts'
import { openSqliteStore } from '../../src/store/sqlite/index.ts'
import type { LedgerRow, Store } from '../../src/store.ts'
import { startTestBroker, type TestBroker } from '../../src/testing/test-broker.ts'
import { runCli } from '../cli/test-io.ts'
import { ids, serviceOf } from '../engine/world.ts'
import { testFolder } from '../store/sqlite-drivers.ts'
import { adminOf } from '../verbs/admin.ts'
import { exported, imported, rowsIn } from './rich-ledger.ts'
import { newMemory, newSqlite, realClock, until } from './stores.ts'

const instances = 600
const longRow = { history: { at: 1, type: 'acted', instanceId: 'i', message: 'x'.repeat(10_000) } } as const

async function start(store: Store, observer: Observer = {}): Promise<TestBroker> {
  const settings = { osb: { requireOrgAndSpace: false } }
  const broker = await startTestBroker({
    services: [serviceOf({})],
    store,
    clock: realClock,
    observer,
    transport: 'socket',
    settings,
  })
  onTestFinished(() => broker.stop())
  return broker
}

/** A broker with more than one batch of rows. */
async function filled(store: Store, observer?: Observer): Promise<TestBroker> {
  const broker = await start(store, observer)
  const admin = adminOf(broker)
  await Promise.all(
    Array.from({ length: instances }, (_, number) =>
      admin.adoptInstance(`i${number}`, { ...ids, state: { secret: 'hush' }, reason: 'a test' }),
    ),
  )
  return broker
}

const hosts: Readonly<Record<string, (broker: TestBroker) => Promise<string>>> = {
  'its own server': async ({ url }) => url,
  async express({ handle }) {
    const server = createServer(toExpress({ handle, start: async () => {}, close: async () => {} }))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  },
  async fastify({ handle }) {
    const app = Fastify()
    await app.register(toFastify({ handle, start: async () => {}, close: async () => {} }))
    onTestFinished(() => app.close())
    return app.listen({ host: '127.0.0.1', port: 0 })
  },
}

describe('GET /admin/export', () => {
  it.each(Object.keys(hosts))('is the ledger of a broker that goes on, over %s', async name => {
    const broker = await filled(await newMemory())
    const url = await hosts[name]?.(broker)
    const { code, out } = await runCli(['export', '--url', url ?? '', '--with-secrets'])
    expect(code).toBe(0)
    const target = await newSqlite()
    expect((await imported(target, out)).counts).toMatchObject({ instance: instances })
    expect(rowsIn(await exported(target)).filter(row => row.includes('"instance"'))).toEqual(
      rowsIn(await exported(broker.store)).filter(row => row.includes('"instance"')),
    )
  })

  it('is a web Response, too, and leaves secrets out', async () => {
    const { handle, store } = await filled(await newSqlite())
    const { toFetch } = await import('../../src/http/fetch.ts')
    const response = await toFetch(handle)(new Request('http://broker.test/admin/export'))
    const text = await response.text()
    expect(response.headers.get('content-type')).toBe('application/x-ndjson')
    expect(text).not.toContain('hush')
    expect(rowsIn(text).length).toBe(rowsIn(await exported(store, false)).length)
  })

  it('refuses a query that nobody knows', async () => {
    const { url } = await start(await newMemory())
    const { code, err } = await runCli(['export', '--url', `${url}`])
    expect({ code, err }).toMatchObject({ code: 0 })
    expect((await fetch(`${url}/admin/export?secrets=true`)).status).toBe(400)
  })

  it('breaks off where the store fails, so that nobody takes it for the whole, and the log says why', async () => {
    const store = await newMemory()
    const failures: string[] = []
    const broken: Store = {
      ...store,
      moving: {
        importState: async () => ({ empty: true }),
        importRows: async () => {},
        async exportRows(take: (rows: readonly LedgerRow[], total: number) => Promise<void>) {
          await take(
            Array.from({ length: 100 }, () => longRow),
            1,
          )
          throw new Error('the disk is gone')
        },
      },
    }
    const { url } = await start(broken, { 'request.failed': ({ error }) => void failures.push(error.message) })
    const { code, err } = await runCli(['export', '--url', url])
    expect(err).toContain('the export broke off')
    expect(code).toBe(1)
    expect(failures).toEqual(['the disk is gone'])
  })

  it('stops reading where nobody reads any more', async () => {
    const store = await newMemory()
    let ended = false
    const endless: Store = {
      ...store,
      moving: {
        importState: async () => ({ empty: true }),
        importRows: async () => {},
        async exportRows(take: (rows: readonly LedgerRow[], total: number) => Promise<void>) {
          try {
            for (;;)
              await take(
                Array.from({ length: 100 }, () => longRow),
                1,
              )
          } finally {
            ended = true
          }
        },
      },
    }
    const { url } = await start(endless)
    const request = get(`${url}/admin/export`, response => response.once('data', () => response.destroy()))
    request.on('error', () => {})
    await until(async () => ended)
  })
})

describe('GET /admin/backup', () => {
  it('copies a SQLite ledger while its broker goes on', async () => {
    const cwd = testFolder()
    const { url } = await filled(await newSqlite())
    const run = await runCli(['backup', 'copy.db', '--url', url], { cwd })
    expect(run).toMatchObject({ code: 0, out: `The store of ${url} was copied to copy.db.\n` })
    expect(statSync(join(cwd, 'copy.db')).mode & 0o777).toBe(0o600)
    expect(existsSync(join(cwd, 'copy.db.part'))).toBe(false)
    const copy = await openSqliteStore({ file: join(cwd, 'copy.db'), clock: systemClock })
    onTestFinished(() => copy.close())
    expect((await copy.instanceCounts())[0]?.instances).toBe(instances)
    expect((await runCli(['backup', 'copy.db', '--url', url], { cwd })).code).toBe(2)
  })

  it('is refused by other stores', async () => {
    const cwd = testFolder()
    const { url } = await start(await newMemory())
    const { code, err } = await runCli(['backup', 'copy.db', '--url', url], { cwd })
    expect(err).toContain('memory: is not a file: use the backups of its server, or purser export.')
    expect({ code, made: existsSync(join(cwd, 'copy.db')) }).toEqual({ code: 1, made: false })
  })
})
