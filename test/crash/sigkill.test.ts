import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { OsbClient } from '../../src/client/index.ts'
import { systemClock } from '../../src/clock.ts'
import { isActive } from '../../src/domain/operation.ts'
import { openSqliteStore } from '../../src/store/sqlite/index.ts'
import { compileOnce } from '../sandbox/bundled.ts'
import { Platform } from './platform.ts'
import { ids } from './service.ts'

/** All points in the long run; otherwise every fifth, so that those before and after a call take turns. */
const stride = process.env.PURSER_TEST_LONG === '1' ? 1 : 5
const broker = await compileOnce('test/crash/child.ts')

const incomplete = { acceptsIncomplete: true } as const
const pollOf = (id: string) => (client: OsbClient, operation: string) => client.lastOperation(id, { operation })
const pollBindingOf = (id: string) => (client: OsbClient, operation: string) =>
  client.lastBindingOperation(id, 'b', { operation })

async function lifeOfAnInstance(platform: Platform, id: string): Promise<void> {
  const poll = pollOf(id)
  const done = [200, 201, 'succeeded']
  expect(done).toContain(await platform.ask(client => client.provision(id, ids, incomplete), poll, [200, 201]))
  expect(platform.things(id)).toEqual(['one', 'two'])
  const pollBinding = pollBindingOf(id)
  expect(done).toContain(await platform.ask(client => client.bind(id, 'b', ids, incomplete), pollBinding, [200, 201]))
  expect(platform.things(id)).toEqual(['b', 'one', 'two'])
  const gone = [410, 'succeeded']
  expect(gone).toContain(await platform.ask(client => client.unbind(id, 'b', ids, incomplete), pollBinding, [410]))
  expect(platform.things(id)).toEqual(['one', 'two'])
  expect(gone).toContain(await platform.ask(client => client.deprovision(id, ids, incomplete), poll, [410]))
  expect(platform.things(id)).toEqual([])
}

async function deleteInTheMiddle(platform: Platform, id: string): Promise<void> {
  const request = { ...ids, parameters: { slow: true } }
  const first = await platform.send(client => client.provision(id, request, incomplete))
  expect([200, 202]).toContain(first.status)
  if (typeof first.body.operation === 'string') platform.accepted.add(first.body.operation)
  const end = await platform.ask(client => client.deprovision(id, ids, incomplete), pollOf(id), [410])
  expect([410, 'succeeded']).toContain(end)
}

const scenarios = [
  ['the life of an instance', lifeOfAnInstance],
  ['a DELETE in the middle of a creation', deleteInTheMiddle],
] as const

describe.concurrent('SIGKILL', () => {
  it.for(scenarios)(
    'at every write to the ledger and every call of the backend, before and after: %s',
    async ([, scenario], { onTestFinished }) => {
      const folder = mkdtempSync(join(tmpdir(), 'purser-sigkill-'))
      const platform = new Platform(folder, { file: broker })
      onTestFinished(async () => {
        await platform.kill()
        rmSync(folder, { recursive: true, force: true })
      })
      await scenario(platform, 'dry')
      const points = await platform.crashIn(undefined)
      expect(points.length).toBeGreaterThan(15)

      const used = ['dry']
      for (let point = 1; point <= points.length; point += stride) {
        const id = `at-${point}`
        used.push(id)
        await platform.crashIn(point)
        await scenario(platform, id).catch(cause => {
          throw new Error(`killed at point ${point}, ${points[point - 1]}`, { cause })
        })
        // Where the machine was so slow that this time there were fewer points, it dies here.
        await platform.kill()
      }
      // Every id is free again, so nothing is left that a sweep would have to look for.
      for (const id of used) {
        await platform.ask(client => client.provision(id, ids, incomplete), pollOf(id), [])
        await platform.ask(client => client.deprovision(id, ids, incomplete), pollOf(id), [410])
      }
      expect(used.flatMap(id => platform.things(id))).toEqual([])
      expect(platform.crashes).toBeGreaterThan(used.length / 2)
      await platform.kill()
      await checkLedger(platform, used)
    },
  )
})

async function checkLedger({ folder, accepted }: Platform, instances: readonly string[]): Promise<void> {
  const commits = readFileSync(join(folder, 'commits.log'), 'utf8').trim().split('\n')
  expect(commits.length).toBe(new Set(commits).size)
  const store = await openSqliteStore({ file: join(folder, 'ledger.db'), clock: systemClock })
  try {
    for (const id of accepted) expect(isActive(await store.operation(id)), id).toBe(false)
    for (const id of instances) {
      expect((await store.instance(id))?.phase, id).toBe('deleted')
      const history = await store.history(id)
      const ends = history.filter(({ type }) => type !== 'accepted').map(({ operationId }) => operationId)
      expect(ends.length, `one end for each operation of ${id}`).toBe(new Set(ends).size)
    }
  } finally {
    await store.close()
  }
}
