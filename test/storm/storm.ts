import type { SourceChange } from '../bundler.ts'
import { check, type Evidence } from './checker.ts'
import type { Cluster } from './cluster.ts'
import type { DatabaseKind } from './databases.ts'
import { readLedger, untilIdle, withLedger } from './ledger.ts'
import { planBlows, strike } from './nemesis.ts'
import { type Actor, createActors, Player } from './platforms.ts'
import { monotonicNow, timeLimit } from './record.ts'
import type { Timing } from './settings.ts'
import { inWorld, platforms, type World } from './world.ts'

export interface WeatherOptions {
  readonly kind: DatabaseKind
  readonly seed: string
  /** Guards that are switched off. */
  readonly changes?: readonly SourceChange[]
}

export interface StormOptions extends WeatherOptions {
  /** How long things go wrong; what comes after takes as long as it takes. */
  readonly durationMs: number
}

/** What fell, by name. */
export interface Struck {
  readonly fault: string
}

export interface StormReport {
  readonly problems: readonly string[]
  /** What happened, in numbers, so that a storm in which nothing did is seen. */
  readonly counts: Readonly<Record<string, number>>
  /** Where the evidence is kept, if there are problems. */
  readonly folder?: string
}

const timing: Timing = { leaseMs: 3_000, callTimeoutMs: 1_200 }
/** Without faults everything ends in seconds; on a loaded machine in many. */
const livenessMs = 180_000

export function runStorm({ durationMs, ...options }: StormOptions): Promise<StormReport> {
  return runThrough(options, ({ cluster, database, random }) => {
    const plan = planBlows(random.fork('nemesis'), durationMs, timing.leaseMs)
    return strike(plan, cluster, database, timeLimit(durationMs))
  })
}

/** Platforms at work while `strikeAll` lasts; then everything must end, go away, and agree with what was said. */
export function runThrough(
  options: WeatherOptions,
  strikeAll: (world: World, actors: readonly Actor[]) => Promise<readonly Struck[]>,
): Promise<StormReport> {
  return inWorld({ ...options, timing }, async world => {
    const { cluster, random } = world
    const actors = createActors(platforms, 3)
    const players = actors.map(actor => new Player(actor, random.fork(actor.instance), () => cluster.urls()))

    let over = false
    await cluster.order({ faults: true })
    const playing = players.map(async player => {
      while (!over) await player.play(() => over)
    })
    const blows = await strikeAll(world, actors).finally(() => {
      over = true
    })
    await cluster.order({ faults: false })
    await cluster.listening()
    await Promise.all(playing)

    const calm = monotonicNow()
    const stormy = await settle(world, actors, players)
    const settled = monotonicNow()
    const limit = timeLimit(livenessMs)
    await Promise.all(players.map(player => player.remove(limit)))
    const cleaned = await settle(world, actors, players)
    const left = Object.keys(cleaned.evidence.backend.things)
    const undead = cleaned.evidence.ledger.filter(({ row }) => row.phase !== 'deleted')
    const problems = [
      ...stormy.problems.map(problem => `after the storm: ${problem}`),
      ...cleaned.problems
        .filter(problem => !stormy.problems.includes(problem))
        .map(problem => `in the end: ${problem}`),
      // No storm takes back what was written: the standby is a synchronous one.
      ...cluster.logs().filter(line => line.includes('went back in time')),
      ...undead.map(({ row }) => `in the end: ${row.id} is ${row.phase}`),
      ...left.map(name => `in the end: ${name} is left`),
    ]
    const seconds = { 'seconds to settle': settled - calm, 'seconds to clean up': monotonicNow() - settled }
    const counts = { ...count(actors, cluster, blows, cleaned.evidence), ...rounded(seconds) }
    if (problems.length === 0) return { problems, counts }
    return { problems, counts, folder: world.keep({ problems, blows, ...toPlain(cleaned.evidence) }) }
  })
}

/** All that was accepted has ended, and nothing is swept any more: now the ledger and the backend must agree. */
async function settle({ cluster, database }: World, actors: readonly Actor[], players: readonly Player[]) {
  const limit = timeLimit(livenessMs)
  await Promise.all(players.map(player => player.followAll(limit)))
  const events = new Map(actors.map(actor => [actor.instance, actor.events]))
  return withLedger(database, async store => {
    const busy = await untilIdle(store, [...events.keys()], limit)
    const ledger = await readLedger(store, events)
    const evidence = { events, ledger, notes: cluster.notes(), backend: await cluster.backendRecord() }
    return { evidence, problems: [...busy, ...check(evidence)] }
  })
}

function rounded(times: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(times).map(([name, ms]) => [name, Math.round(ms / 1000)]))
}

function toPlain(evidence: Evidence): object {
  return { ...evidence, events: Object.fromEntries(evidence.events) }
}

function count(
  actors: readonly Actor[],
  { replicas }: Cluster,
  blows: readonly Struck[],
  { notes, backend, ledger }: Evidence,
): Readonly<Record<string, number>> {
  const events = actors.flatMap(actor => actor.events)
  const asked = events.filter(event => event.type === 'asked')
  const operations = ledger.flatMap(one => one.operations)
  return {
    blows: blows.length,
    'database crashes': blows.filter(({ fault }) => fault === 'crash database').length,
    'starts of replicas': replicas.reduce((sum, { starts }) => sum + starts, 0),
    requests: asked.length,
    'longest request in seconds': Math.round(Math.max(...events.map(({ start, end }) => end - start)) / 1000),
    accepted: asked.filter(({ status }) => status === 202).length,
    'without an answer': asked.filter(({ status }) => status === undefined).length,
    'answers 503': asked.filter(({ status }) => status === 503).length,
    polls: events.length - asked.length,
    operations: operations.length,
    superseded: operations.filter(({ state }) => state === 'superseded').length,
    failed: operations.filter(({ state }) => state === 'failed').length,
    sweeps: operations.filter(({ action }) => action === 'sweep').length,
    claims: notes.filter(({ type }) => type === 'claim').length,
    'refused writes': notes.filter(({ written }) => !written).length,
    'calls of the backend': backend.calls.length,
    'late calls': backend.calls.filter(({ late }) => late === true).length,
  }
}
