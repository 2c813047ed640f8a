/** Real processes that are started again under their name. Leases last an hour: nothing here goes on because one is over. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runNode, useBuiltPackage } from '../cli/built-package.ts'
import { ids, incomplete } from '../engine/world.ts'
import { describePostgres, newSchema, openStore } from '../store/postgres-subject.ts'
import { ended, until } from './broker.ts'
import { makeDeployment, type Process } from './processes.ts'

const built = useBuiltPackage()

const deploy = (store: object) =>
  makeDeployment(built, {
    ...store,
    server: { shutdownDelay: '0s' },
    osb: { requireOrgAndSpace: false },
    engine: { name: 'broker-0', lease: '1h', callTimeout: '20m' },
    log: { format: 'json' },
  })

/** Begins an operation whose first attempt stands still until there is a file `go`. */
async function begin({ client, log }: Process): Promise<string> {
  const { body } = await client.provision('i', { ...ids, parameters: { waitFor: 'go' } }, incomplete)
  await until(async () => log.some(line => line.includes('one begun')))
  return body.operation ?? ''
}

/** kill -9 in the middle of an operation, and the same name again. */
async function killAndRestart(store: object): Promise<void> {
  const { start } = await deploy(store)
  const first = await start()
  const operation = await begin(first)
  first.signal('SIGKILL')
  await first.ended
  const second = await start()
  expect(await ended(second.client, 'i', operation)).toBe('succeeded')
  expect(second.log.some(line => line.includes('"name.takenOver"'))).toBe(true)
}

describe('a name, on SQLite', () => {
  it('after kill -9 the next process of the name goes on at once', () => killAndRestart({ store: 'sqlite:ledger.db' }))
})

describePostgres('a name, on PostgreSQL', server => {
  it('after kill -9 the next process of the name goes on at once', () =>
    killAndRestart({ store: server.url, ledger: { schema: newSchema() } }))

  it('a second process of a name that lives does not start, and says why', async () => {
    const { folder, start } = await deploy({ store: server.url, ledger: { schema: newSchema() } })
    const first = await start()
    const { code, err } = await runNode(built.bin, ['serve', '--port', '0'], { cwd: folder })
    expect(code).toBe(1)
    expect(err).toContain('The name broker-0 is in use.')
    expect(err).toContain(`/${first.pid}/`)
    expect(err).toContain('another engine.name')
    expect((await first.client.provision('i', ids)).status).toBe(201)
  })

  it('a process that was stopped, and wakes up when its name is taken, writes nothing and runs nothing', async () => {
    const schema = newSchema()
    const { folder, start } = await deploy({ store: server.url, ledger: { schema } })
    const first = await start()
    const operation = await begin(first)
    first.signal('SIGSTOP')
    const second = await start()
    expect(await ended(second.client, 'i', operation)).toBe('succeeded')
    const store = await openStore({ url: server.url, schema })
    const before = await store.operation(operation)
    await writeFile(join(folder, 'go'), '')
    first.signal('SIGCONT')
    await until(async () => first.log.some(line => line.includes('"name.lost"')))
    first.signal('SIGTERM')
    expect(await first.ended).toBe(0)
    expect(first.log.filter(line => line.includes('two begun'))).toEqual([])
    expect(await store.operation(operation)).toEqual(before)
    expect(before).toMatchObject({ state: 'succeeded', attempt: 2 })
  })
})
