import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { systemClock } from '../../src/clock.ts'
import { silent } from '../../src/observer.ts'
import { openPostgresStore } from '../../src/store/postgres/index.ts'
import { openSqliteStore } from '../../src/store/sqlite/index.ts'
import type { Store } from '../../src/store.ts'
import { startTestBroker } from '../../src/testing/test-broker.ts'
import { createTestIo, runCli } from '../cli/test-io.ts'
import { ids, serviceOf } from '../engine/world.ts'
import { describePostgres } from '../store/postgres-subject.ts'
import { testFolder } from '../store/sqlite-drivers.ts'
import { exported, imported, richLedger, rowsIn } from './rich-ledger.ts'
import { newSqlite, realClock, until } from './stores.ts'

async function withSqlite<Result>(file: string, work: (store: Store) => Promise<Result>): Promise<Result> {
  const store = await openSqliteStore({ file, clock: systemClock })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** A folder with a ledger in a file, and what it would export. */
async function ledgerFile() {
  const cwd = testFolder()
  const file = join(cwd, 'a.db')
  const rows = await withSqlite(file, async store => {
    await imported(store, await exported(await richLedger()))
    return rowsIn(await exported(store))
  })
  return { cwd, file, rows }
}

async function runImport(args: readonly string[], cwd: string, text: string) {
  const io = createTestIo({ cwd })
  Readable.from([text]).pipe(io.stdin)
  const code = await main(['import', ...args], io)
  return { code, out: io.out(), err: io.err() }
}

describe('purser export and import', () => {
  it('copy one store to another', async () => {
    const { cwd, file, rows } = await ledgerFile()
    const options = { cwd, tty: true, columns: 80 }
    const { code, out, err } = await runCli(['export', '--store', `sqlite:${file}`, '--with-secrets'], options)
    expect(code).toBe(0)
    expect(err).toContain('export rows')
    expect(rowsIn(out)).toEqual(rows)
    const done = await runImport(['--store', 'sqlite:b.db'], cwd, out)
    expect(done).toMatchObject({ code: 0, out: expect.stringMatching(/^ledger +1\n(.*\n)*instance +\d/) })
    expect(await withSqlite(join(cwd, 'b.db'), async store => rowsIn(await exported(store)))).toEqual(rows)
    // Once more is refused, and says why.
    const again = await runImport(['--store', 'sqlite:b.db'], cwd, out)
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('is not empty') })
    writeFileSync(join(cwd, 'ledger'), out)
    expect((await runCli(['import', '--store', 'sqlite:c.db', 'ledger'], { cwd })).code).toBe(0)
  })

  it('leave secrets out unless they are asked for, and say that such a file cannot be imported', async () => {
    const { cwd, file } = await ledgerFile()
    const { out } = await runCli(['export', '--store', `sqlite:${file}`], { cwd })
    const { code, err } = await runImport(['--store', 'sqlite:b.db'], cwd, out)
    expect(err).toContain('Export it again with --with-secrets')
    expect(code).toBe(1)
  })

  it('say that a file is missing, and do not make it', async () => {
    const cwd = testFolder()
    const store = ['--store', 'sqlite:typo.db']
    for (const args of [
      ['export', ...store],
      ['backup', 'copy.db', ...store],
    ])
      expect(await runCli(args, { cwd })).toMatchObject({ code: 1, err: expect.stringContaining('is not there') })
    const missing = await runCli(['import', ...store, 'nothing'], { cwd })
    expect(missing).toMatchObject({ code: 2, err: expect.stringContaining('names a file that cannot be used') })
    expect(existsSync(join(cwd, 'typo.db'))).toBe(false)
  })

  it('refuse a store that is held, or is nobody else’s to read', async () => {
    const { cwd, file } = await ledgerFile()
    const held = await openSqliteStore({ file, clock: systemClock })
    onTestFinished(() => held.close())
    const locked = await runCli(['export', '--store', `sqlite:${file}`], { cwd })
    expect(locked).toMatchObject({ code: 1, err: expect.stringContaining('is held by') })
    const memory = await runCli(['export', '--store', 'memory:'], { cwd })
    expect(memory).toMatchObject({ code: 1, err: expect.stringContaining('ask that one with --url') })
  })
})

describe('a broker', () => {
  it('does not start on half of an import', async () => {
    const store = await newSqlite()
    await store.moving?.importRows([], { id: 'x', line: 7 })
    const starting = startTestBroker({ services: [serviceOf({})], store, clock: realClock, observer: silent })
    await expect(starting).rejects.toThrow(/stopped after line 7/)
  })
})

describePostgres('operations that are in flight', server => {
  it('go on in the store that they were imported into, after their broker has stopped', async () => {
    let pass = () => {}
    const passed = new Promise<void>(resolve => {
      pass = resolve
    })
    const done: string[] = []
    const service = serviceOf({
      async provision(ctx) {
        await ctx.step('first', async () => void done.push('first'))
        await ctx.step('second', async () => {
          await passed
          done.push('second')
        })
      },
    })
    const from = await newSqlite()
    const settings = { osb: { requireOrgAndSpace: false } }
    const start = (store: Store) =>
      startTestBroker({ services: [service], store, clock: realClock, observer: silent, settings })
    const first = await start(from)
    const { body } = await first.client.provision('i', ids, { acceptsIncomplete: true })
    const operation = String(body.operation)
    await until(async () => (await from.steps(operation)).length === 1)
    await first.stop()
    const to = await openPostgresStore({ url: server.url, schema: 'in_flight' })
    onTestFinished(() => to.close())
    await imported(to, await exported(from))
    expect(await to.operation(operation)).toMatchObject({ state: 'queued' })
    pass()
    const second = await start(to)
    onTestFinished(() => second.stop())
    await until(async () => (await to.operation(operation))?.state === 'succeeded')
    expect(done.filter(step => step === 'first')).toEqual(['first'])
    expect((await second.client.lastOperation('i', { operation })).body).toMatchObject({ state: 'succeeded' })
  })
})

describe('purser backup', () => {
  it('copies a file that nobody has open, for its owner only', async () => {
    const { cwd, file, rows } = await ledgerFile()
    const run = await runCli(['backup', 'copy.db', '--store', `sqlite:${file}`], { cwd })
    expect(run).toMatchObject({ code: 0, out: `sqlite:${file} was copied to copy.db.\n` })
    expect(statSync(join(cwd, 'copy.db')).mode & 0o777).toBe(0o600)
    expect(await withSqlite(join(cwd, 'copy.db'), async store => rowsIn(await exported(store)))).toEqual(rows)
    const again = await runCli(['backup', 'copy.db', '--store', `sqlite:${file}`], { cwd })
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('there is one already') })
  })

  it('is consistent while a broker works', async () => {
    const cwd = testFolder()
    const store = await openSqliteStore({ file: join(cwd, 'a.db'), clock: systemClock })
    onTestFinished(() => store.close())
    const broker = await startTestBroker({
      services: [serviceOf({})],
      store,
      clock: realClock,
      observer: silent,
      settings: { osb: { requireOrgAndSpace: false } },
    })
    onTestFinished(() => broker.stop())
    let going = true
    let made = 0
    const load = Promise.all(
      Array.from({ length: 8 }, async (_, lane) => {
        for (let number = 0; going; number += 1) {
          await broker.client.provision(`${lane}-${number}`, ids, { acceptsIncomplete: true })
          made += 1
        }
      }),
    )
    for (const [round, name] of ['b.db', 'c.db', 'd.db'].entries()) {
      const before = made
      await until(async () => made > before + 20 * (round + 1))
      const known = made
      await store.moving?.backup?.(join(cwd, name))
      await withSqlite(join(cwd, name), async copy => {
        const { items } = await copy.listInstances({ limit: 500 })
        expect(items.length).toBeGreaterThanOrEqual(Math.min(known, 500))
        for (const { id, lastOperationId } of items) {
          const operation = await copy.operation(lastOperationId)
          expect(operation).toMatchObject({ instanceId: id })
          expect((await copy.history(id))[0]).toMatchObject({ type: 'accepted', operationId: lastOperationId })
        }
      })
    }
    going = false
    await load
    expect(existsSync(join(cwd, 'a.db'))).toBe(true)
    expect(readFileSync(join(cwd, 'b.db')).subarray(0, 15).toString()).toBe('SQLite format 3')
  })

  it.each([
    ['postgres://nobody@127.0.0.1:1/x', 'could not|cannot|refused'],
    ['memory:', 'ask that one with --url'],
  ])('says what to use for %s', async (url, words) => {
    const { code, err } = await runCli(['backup', 'x', '--store', url], { cwd: testFolder() })
    expect(err).toMatch(new RegExp(words))
    expect(code).toBe(1)
  })
})

describePostgres('purser backup of PostgreSQL', server => {
  it('names what to use', async () => {
    const { code, err } = await runCli(['backup', 'x', '--store', server.url], { cwd: testFolder() })
    expect(err).toContain('use pg_dump')
    expect(code).toBe(1)
  })
})
