/** What each signal does to `purser serve`, on a ledger that shows afterwards whether it ended in order. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/index.ts'
import { useBuiltPackage } from '../cli/built-package.ts'
import { ids, incomplete } from '../engine/world.ts'
import { until } from './broker.ts'
import { makeDeployment, type Process } from './processes.ts'

const built = useBuiltPackage()

const deploy = (server: object) =>
  makeDeployment(built, {
    store: 'sqlite:ledger.db',
    server,
    osb: { requireOrgAndSpace: false },
    log: { format: 'json' },
  })

/** Begins an operation that does not end by itself. */
async function beginEndless({ client, log }: Process): Promise<string> {
  const { body } = await client.provision('i', { ...ids, parameters: { stepMs: 3_600_000 } }, incomplete)
  await until(async () => log.some(line => line.includes('one begun')))
  return body.operation ?? ''
}

/** `queued`: it was handed back. `running`: its holder was killed. */
async function stateOf(folder: string, operation: string): Promise<string | undefined> {
  const store = await openSqliteStore({ file: join(folder, 'ledger.db') })
  const found = await store.operation(operation)
  await store.close()
  return found?.state
}

describe('a signal', () => {
  it.each(['SIGTERM', 'SIGHUP'] as const)('%s: not ready for the delay, and still there', async signal => {
    const { start } = await deploy({ shutdownDelay: '1h' })
    const replica = await start()
    replica.signal(signal)
    const ready = await until(async () => {
      const answer = await fetch(`${replica.url}/readyz`)
      return answer.status === 503 && answer
    })
    expect(await ready.json()).toEqual({ status: 'not ready', reason: 'stopping' })
    expect(ready.headers.get('connection')).toBe('close')
    expect((await replica.client.provision('i', ids)).status).toBe(201)
  })

  it.each(['SIGTERM', 'SIGHUP'] as const)('%s: after the delay it ends in order', async signal => {
    const { folder, start } = await deploy({ shutdownDelay: '50ms', shutdownGrace: '100ms' })
    const replica = await start()
    const operation = await beginEndless(replica)
    replica.signal(signal)
    expect(await replica.ended).toBe(0)
    expect(await stateOf(folder, operation)).toBe('queued')
    const line = replica.log.find(line => line.includes('"broker.stopping"'))
    expect(JSON.parse(line ?? '')).toMatchObject({ signal, delayMs: 50, graceMs: 100 })
  })

  it('SIGINT, which people send, waits for no load balancer', async () => {
    const { folder, start } = await deploy({ shutdownDelay: '1h', shutdownGrace: '100ms' })
    const replica = await start()
    const operation = await beginEndless(replica)
    replica.signal('SIGINT')
    expect(await replica.ended).toBe(0)
    expect(await stateOf(folder, operation)).toBe('queued')
  })

  it.each(['SIGTERM', 'SIGHUP'] as const)('%s, and SIGHUP any time later: it still ends in order', async signal => {
    const { start } = await deploy({ shutdownDelay: '1h' })
    const replica = await start()
    replica.signal(signal)
    await until(async () => (await fetch(`${replica.url}/readyz`)).status === 503)
    const noticedAt = Date.now()
    await until(async () => Date.now() - noticedAt > 1500)
    for (let asked = 0; asked < 20; asked += 1) {
      replica.signal('SIGHUP')
      expect((await fetch(`${replica.url}/healthz`)).status).toBe(200)
    }
    replica.signal('SIGTERM')
    expect(await replica.ended).toBe(130)
  })

  it('that comes again ends it at once, in the delay too', async () => {
    const { folder, start } = await deploy({ shutdownDelay: '1h' })
    const replica = await start()
    const operation = await beginEndless(replica)
    // Signals that come together are one; the one that counts comes later.
    await until(async () => {
      replica.signal('SIGTERM')
      return replica.hasEnded()
    })
    expect(await replica.ended).toBe(130)
    expect(await stateOf(folder, operation)).toBe('running')
  })

  it('of a terminal that is closed ends it in order, though nobody reads its log any more', async () => {
    const { folder, command, start } = await deploy({ shutdownDelay: '0s', shutdownGrace: '100ms' })
    const terminal = await start(['script', '--quiet', '--command', command.join(' '), '/dev/null'])
    const operation = await beginEndless(terminal)
    terminal.signal('SIGKILL')
    // The lock of the file goes with the process.
    const state = await until(() => stateOf(folder, operation).catch(() => undefined))
    expect(state).toBe('queued')
  })
})
