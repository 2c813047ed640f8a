import { expect, it } from 'vitest'
import { createGate, createTurns } from './turns.ts'

/** Work that ends when it is told to. */
function createWork() {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  return {
    begun,
    do: (name: string) => () =>
      new Promise<string>(resolve => {
        begun.push(name)
        ends.set(name, () => resolve(name))
      }),
    end: (name: string) => ends.get(name)?.(),
  }
}

const turn = () => new Promise(resolve => setImmediate(resolve))

function createClock() {
  let now = 0
  return {
    now: () => now,
    after: () => () => {},
    pass(ms: number) {
      now += ms
    },
  }
}

it('those with the same key take turns in their order, others do not wait', async () => {
  const work = createWork()
  const turns = createTurns(createClock(), 1000)
  const all = [turns.take('k', work.do('a')), turns.take('k', work.do('b')), turns.take('other', work.do('c'))]
  await turn()
  expect(work.begun).toEqual(['a', 'c'])
  work.end('a')
  await turn()
  expect(work.begun).toEqual(['a', 'c', 'b'])
  work.end('b')
  work.end('c')
  expect(await Promise.all(all)).toEqual(['a', 'b', 'c'])
})

it('a turn that fails does not stop the next', async () => {
  const turns = createTurns(createClock(), 1000)
  const failed = turns.take('k', async () => {
    throw new Error('no')
  })
  const next = turns.take('k', async () => 'yes')
  await expect(failed).rejects.toThrow('no')
  expect(await next).toBe('yes')
})

it('work whose turn came too late is not begun', async () => {
  const work = createWork()
  const clock = createClock()
  const turns = createTurns(clock, 1000)
  const first = turns.take('k', work.do('a'))
  const late = turns.take('k', work.do('b'))
  clock.pass(1000)
  work.end('a')
  await expect(late).rejects.toMatchObject({ name: 'StoreUnavailableError' })
  expect([await first, work.begun]).toEqual(['a', ['a']])
  const after = turns.take('k', work.do('c'))
  work.end('c')
  expect(await after).toBe('c')
})

it('a gate lets no more through than it is wide, and the next when one has left', async () => {
  const work = createWork()
  const pass = createGate(2)
  const all = ['a', 'b', 'c', 'd'].map(name => pass(work.do(name)))
  await turn()
  expect(work.begun).toEqual(['a', 'b'])
  work.end('b')
  await turn()
  expect(work.begun).toEqual(['a', 'b', 'c'])
  for (const name of ['a', 'c']) work.end(name)
  await turn()
  work.end('d')
  expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd'])
})
