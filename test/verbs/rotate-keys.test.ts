import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { openSqliteStore } from '../../src/store/sqlite/index.ts'
import type { Keyring, Store } from '../../src/store.ts'
import { startTestBroker, type TestBroker } from '../../src/testing/test-broker.ts'
import { runCli } from '../cli/test-io.ts'
import { ids, serviceOf } from '../engine/world.ts'
import { realClock, until } from '../moving/stores.ts'
import { testFolder } from '../store/sqlite-drivers.ts'
import { testKeyring } from '../store/test-keyring.ts'
import { adminOf } from './admin.ts'

const file = () => join(testFolder(), 'ledger.db')

async function start(path: string, keyring?: Keyring): Promise<TestBroker & { readonly opened: Store }> {
  const opened = await openSqliteStore({ file: path, clock: systemClock, keyring })
  const settings = { osb: { requireOrgAndSpace: false } }
  const services = [serviceOf({})]
  const broker = await startTestBroker({ services, store: opened, clock: realClock, transport: 'socket', settings })
  onTestFinished(async () => {
    await broker.stop()
    await opened.close()
  })
  return { ...broker, opened }
}

async function provisioned({ client }: TestBroker, id: string): Promise<void> {
  await client.provision(id, { ...ids, parameters: { password: id } }, { acceptsIncomplete: true })
  await until(async () => (await client.lastOperation(id)).body.state === 'succeeded')
}

describe('purser keys', () => {
  it('encrypts everything with the current key while the broker serves, and says who asked for it', async () => {
    const path = file()
    const before = await start(path)
    await provisioned(before, 'one')
    await before.stop()
    await before.opened.close()

    const broker = await start(path, testKeyring('2026-a'))
    const admin = adminOf(broker)
    expect((await admin.keys()).body).toMatchObject({
      current: '2026-a',
      keys: [{ label: '2026-a', configured: true, values: 0 }],
      plain_values: expect.any(Number),
    })
    const { status, body } = await admin.rotateKeys({ reason: 'the first key' })
    expect([status, body.key]).toEqual([202, '2026-a'])
    await provisioned(broker, 'two')
    const run = await until(async () => {
      const found = (await admin.chores()).body.chores?.find(({ name }) => name === 'rotate-keys')
      return found?.finished_at !== undefined && found
    })
    expect(run).toMatchObject({ ok: true, message: expect.stringContaining('which protects all there are') })
    expect((await admin.keys()).body).toMatchObject({ plain_values: 0 })
    expect((await broker.opened.instance('one'))?.parameters).toEqual({ password: 'one' })
    const { items } = await broker.opened.listActs({})
    expect(items).toMatchObject([{ verb: 'rotate-keys', reason: 'the first key', after: { key: '2026-a' } }])
  })

  it('is shown, and waited for, by the command', async () => {
    const broker = await start(file(), testKeyring('2026-b', '2026-a'))
    await provisioned(broker, 'one')
    const env = { PURSER_URL: broker.url }
    const rotated = await runCli(['keys', 'rotate'], { cwd: testFolder(), env })
    expect(rotated.out).toContain('with the key "2026-b"')
    const listed = await runCli(['keys', 'list'], { cwd: testFolder(), env })
    expect(listed.out).toMatch(/2026-b +new values +\d+\n2026-a +reads +0\n\(not encrypted\) +0\n/)
  })

  it('says that there is no key', async () => {
    const admin = adminOf(await start(file()))
    expect((await admin.rotateKeys()).body).toMatchObject({
      detail: expect.stringContaining('No encryption key is configured.'),
    })
  })
})
