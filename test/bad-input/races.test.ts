import { describe, expect, it } from 'vitest'
import { isActive } from '../../src/domain/operation.ts'
import { type Backend, createBackend } from '../conformance/backend.ts'
import { createServices, full, org } from '../conformance/services.ts'
import { attacking, binding, instance, type Target } from './target.ts'

const seeds =
  process.env.PURSER_TEST_LONG === undefined ? [1, 2, 3, 4, 5] : Array.from({ length: 100 }, (_, seed) => seed)
const instances = ['i1', 'i2', 'i3']
const bindings = instances.flatMap(id => [`${id}-b1`, `${id}-b2`].map(bindingId => [id, bindingId] as const))
const clients = 12
const requestsPerClient = 25

describe('clients that get into each other’s way', () => {
  it.each(seeds)(
    'every operation that was taken ends, and the backend is what the ledger says (seed %i)',
    async seed => {
      const random = createRandom(seed)
      const backend = createBackend()
      const overlaps: string[] = []
      await attacking(
        async target => {
          const taken = new Set<string>()
          let running = clients
          const client = async () => {
            for (let request = 0; request < requestsPerClient; request += 1) {
              const operation = await act(target, random)
              if (operation !== undefined) taken.add(operation)
            }
            running -= 1
          }
          const all = Promise.all(Array.from({ length: clients }, client))
          while (running > 0) await target.clock.advance(500)
          await all
          await settle(target, taken)
          await check(target, backend, taken)
          expect(overlaps).toEqual([])
        },
        // A request may wait as long as it likes: time is made by this test, faster than sockets are.
        {
          services: createServices(slowed(backend, random, overlaps)),
          random,
          settings: { server: { syncTimeout: '1h' } },
        },
      )
    },
  )
})

type Pick = <Value>(values: readonly [Value, ...Value[]]) => Value

/** One random request; the operation it was answered with, if any. */
async function act(target: Target, random: () => number): Promise<string | undefined> {
  const pick: Pick = values => values[Math.floor(random() * values.length)] ?? values[0]
  const query = pick(['', '?accepts_incomplete=true', '?accepts_incomplete=true'])
  const ids = `service_id=${full.service_id}&plan_id=${full.plan_id}`
  const deletion = `${query === '' ? '?' : `${query}&`}${ids}`
  const [instanceId, bindingId] = pick(bindings as [readonly [string, string]])
  const parameters = { name: pick(['a', 'b']) }
  const [method, path, body] = pick<readonly [string, string, object?]>([
    ['PUT', instance(instanceId) + query, { ...full, ...org }],
    ['PUT', instance(instanceId) + query, { ...full, ...org }],
    ['PATCH', instance(instanceId) + query, { service_id: full.service_id, parameters }],
    ['DELETE', instance(instanceId) + deletion],
    ['PUT', binding(instanceId, bindingId) + query, full],
    ['PUT', binding(instanceId, bindingId) + query, full],
    ['DELETE', binding(instanceId, bindingId) + deletion],
    ['GET', instance(instanceId)],
    ['GET', `${instance(instanceId)}/last_operation`],
  ])
  const answer = await target.request(method, path, body === undefined ? {} : { body })
  const description = `${method} ${path}: ${answer.status} ${answer.text}`
  expect([200, 201, 202, 404, 410, 422], description).toContain(answer.status)
  if (answer.status === 422)
    expect(['ConcurrencyError', 'BindingsExist', 'InstanceNotUsable']).toContain(answer.body.error)
  return answer.status === 202 ? String(answer.body.operation) : undefined
}

/** Lets time pass until nothing is left to do; a day is more than any wait, drain or sweep needs. */
async function settle(target: Target, taken: ReadonlySet<string>): Promise<void> {
  for (let minute = 0; minute < 24 * 60; minute += 1) {
    await target.clock.advance(60_000)
    const operations = await Promise.all([...taken].map(id => target.store.operation(id)))
    if (minute > 60 && !operations.some(isActive)) return
  }
}

async function check(target: Target, backend: Backend, taken: ReadonlySet<string>): Promise<void> {
  expect(taken.size).toBeGreaterThan(0)
  for (const id of taken) {
    const operation = await target.store.operation(id)
    expect(operation).toMatchObject({ state: expect.stringMatching(/^(succeeded|superseded)$/) })
  }
  const rows = [
    ...(await Promise.all(instances.map(async id => [`instance:${id}`, await target.store.instance(id)] as const))),
    ...(await Promise.all(
      bindings.map(
        async ([id, bindingId]) => [`binding:${bindingId}`, await target.store.binding(id, bindingId)] as const,
      ),
    )),
  ]
  for (const [, row] of rows) expect(['ready', 'deleted', undefined]).toContain(row?.phase)
  for (const [id, bindingId] of bindings)
    if ((await target.store.binding(id, bindingId))?.phase === 'ready')
      expect(await target.store.instance(id)).toMatchObject({ phase: 'ready' })
  const ready = rows.filter(([, row]) => row?.phase === 'ready').map(([name]) => name)
  expect([...backend.things].sort()).toEqual(ready.sort())
  for (const id of instances) {
    expectTurns(backend.done, `provision ${id}`, `deprovision ${id}`)
    const history = await target.store.history(id)
    for (const { operationId } of history.filter(({ type }) => type === 'accepted')) {
      const ends = history.filter(event => event.operationId === operationId && event.type !== 'accepted')
      expect(ends.map(({ type }) => type)).toEqual([expect.stringMatching(/^(succeeded|superseded)$/)])
    }
  }
  for (const [, id] of bindings) expectTurns(backend.done, `bind ${id}`, `unbind ${id}`)
}

/** Nothing is created twice without having been removed in between. */
function expectTurns(done: readonly string[], create: string, remove: string): void {
  const turns = done.filter(action => action === create || action === remove)
  expect(turns.filter((action, index) => action === create && turns[index - 1] === create)).toEqual([])
}

/**
 * Actions take a random number of turns, so that requests meet them at every stage. `overlaps` tells of those that ran at
 * the same time and must not: on one instance, or on one binding. A call that was told to stop counts no more.
 */
function slowed(backend: Backend, random: () => number, overlaps: string[]): Backend {
  const running = new Set<{ readonly action: string; readonly id: string; readonly signal: AbortSignal }>()
  return {
    ...backend,
    async perform(action, id, signal, effect) {
      const call = { action, id, signal }
      for (const other of running)
        if (!other.signal.aborted && excludes(id, other.id))
          overlaps.push(`${action} ${id} during ${other.action} ${other.id}`)
      running.add(call)
      try {
        for (let turns = Math.floor(random() * 30); turns > 0; turns -= 1) {
          await new Promise(setImmediate)
          signal.throwIfAborted()
        }
        await backend.perform(action, id, signal, effect)
      } finally {
        running.delete(call)
      }
    },
  }
}

/** Bindings of one instance may be worked on side by side; an instance and its bindings may not. */
function excludes(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}-`) || other.startsWith(`${one}-`)
}

/** Numbers that look random and are the same for the same seed (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 4294967296
  }
}
