import { describe, expect, it } from 'vitest'
import { decideShared, type SharedResource } from '../../src/domain/shared-claim.ts'

/**
 * Every interleaving of instances that acquire and release one shared resource, with a crash (or a DELETE that takes over)
 * at any point: the decision is explored as a graph of states, not sampled.
 */
interface Actor {
  readonly wish: 'acquire' | 'release'
  readonly at: 'asking' | 'waiting' | 'calling' | 'settling' | 'done'
  /** Which operation of the instance this is: a DELETE that takes over is the next one. */
  readonly operation: number
}

interface State {
  readonly row: SharedResource
  readonly exists: boolean
  readonly claims: readonly number[]
  readonly actors: readonly Actor[]
  /** What broke a promise on the way here. */
  readonly wrong?: string
}

interface Faults {
  readonly crash: boolean
  readonly takeOver: boolean
}

const holderOf = (instance: number, { operation }: Actor) => `${instance}/${operation}`

function ask(state: State, instance: number, actor: Actor): State {
  const { row, claims } = state
  const id = holderOf(instance, actor)
  const {
    answer,
    claim,
    row: next,
  } = decideShared(actor.at === 'waiting' ? 'recreate' : actor.wish, {
    row,
    operationId: id,
    otherClaims: claims.filter(other => other !== instance).length,
    holderAlive: state.actors.some((other, index) => other.at !== 'done' && holderOf(index, other) === row.holder),
  })
  const at = { do: 'calling', ready: 'done', busy: 'asking', quiet: 'waiting' } as const
  const kept = claims.filter(other => other !== instance)
  return put(
    { ...state, row: next, claims: claim === undefined ? claims : claim ? [...kept, instance] : kept },
    instance,
    {
      ...actor,
      at: at[answer],
    },
  )
}

function call(state: State, instance: number, actor: Actor, faults: Faults): State {
  const exists = actor.wish === 'acquire'
  const needless = state.exists === exists && !faults.crash && !faults.takeOver
  return put(
    { ...state, exists, ...(needless ? { wrong: `${exists ? 'created' : 'removed'} twice` } : {}) },
    instance,
    { ...actor, at: 'settling' },
  )
}

function settle(state: State, instance: number, actor: Actor): State {
  const { row } = decideShared('settle', {
    row: state.row,
    operationId: holderOf(instance, actor),
    otherClaims: 0,
    holderAlive: false,
  })
  return put({ ...state, row }, instance, { ...actor, at: 'done' })
}

function put(state: State, instance: number, actor: Actor): State {
  return { ...state, actors: state.actors.map((other, index) => (index === instance ? actor : other)) }
}

function next(state: State, faults: Faults): State[] {
  return state.actors.flatMap((actor, instance) => {
    const takenOver: State[] =
      faults.takeOver && actor.wish === 'acquire'
        ? [put(state, instance, { wish: 'release', at: 'asking', operation: actor.operation + 1 })]
        : []
    if (actor.at === 'done') return takenOver
    const crashed = faults.crash && actor.at !== 'asking' ? [put(state, instance, { ...actor, at: 'asking' })] : []
    const step =
      actor.at === 'asking' || actor.at === 'waiting'
        ? ask(state, instance, actor)
        : actor.at === 'calling'
          ? call(state, instance, actor, faults)
          : settle(state, instance, actor)
    return [step, ...crashed, ...takenOver]
  })
}

function problemOf(state: State): string | undefined {
  if (state.wrong !== undefined) return state.wrong
  const missing = state.actors.some(({ wish, at }) => wish === 'acquire' && at === 'done') && !state.exists
  if (missing) return 'an instance that acquired it does not have it'
  if (!isEnd(state)) return undefined
  if (state.exists !== state.claims.length > 0) return state.exists ? 'left behind' : 'removed under a claim'
  return state.row.holder === undefined ? undefined : 'held by nobody'
}

const isEnd = (state: State) => state.actors.every(({ at }) => at === 'done')

/** Explores everything that can follow, and answers how many states there are. */
function explore(start: State, faults: Faults): number {
  const seen = new Map<string, State>([[JSON.stringify(start), start]])
  const before = new Map<string, string[]>()
  const open = [start]
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    const from = JSON.stringify(state)
    expect(problemOf(state), from).toBeUndefined()
    for (const following of next(state, faults)) {
      const to = JSON.stringify(following)
      before.set(to, [...(before.get(to) ?? []), from])
      if (seen.has(to)) continue
      seen.set(to, following)
      open.push(following)
    }
  }
  // Whatever has happened, everybody can still get to an end.
  const ends = [...seen].filter(([, state]) => isEnd(state)).map(([key]) => key)
  const reaching = new Set(ends)
  for (let key = ends.pop(); key !== undefined; key = ends.pop())
    for (const from of before.get(key) ?? [])
      if (!reaching.has(from)) {
        reaching.add(from)
        ends.push(from)
      }
  expect(reaching.size).toBe(seen.size)
  return seen.size
}

function start(wishes: readonly Actor['wish'][]): State {
  const claims = wishes.flatMap((wish, instance) => (wish === 'release' ? [instance] : []))
  const present = claims.length > 0
  return {
    row: { key: 'broker', phase: present ? 'present' : 'absent' },
    exists: present,
    claims,
    actors: wishes.map(wish => ({ wish, at: 'asking', operation: 0 })),
  }
}

const wishes: readonly (readonly Actor['wish'][])[] = [
  ['release', 'acquire'],
  ['acquire', 'acquire'],
  ['release', 'release'],
  ['release', 'acquire', 'acquire'],
  ['release', 'release', 'acquire'],
  ['acquire', 'acquire', 'acquire'],
]
const groups = wishes.map(group => [group.join(', '), group] as const)

describe('a shared resource (6342), in every interleaving', () => {
  it.each(groups)('%s: created once, removed once, there for everybody who claims it', (_, group) => {
    expect(explore(start(group), { crash: false, takeOver: false })).toBeGreaterThan(5)
  })

  it.each(groups)('%s, with a crash of any holder at any point', (_, group) => {
    expect(explore(start(group), { crash: true, takeOver: false })).toBeGreaterThan(10)
  })

  it.each(groups)('%s, with crashes, and a DELETE that takes over at any point', (_, group) => {
    expect(explore(start(group), { crash: true, takeOver: true })).toBeGreaterThan(10)
  })
})
