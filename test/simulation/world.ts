import { createMemoryStore } from '../../src/store/memory/index.ts'
import type { Operation } from '../../src/store.ts'
import { createLedgerWatch } from '../../src/testing/ledger-watch.ts'
import { createBackend } from './backend.ts'
import { checkAnswer, checkBackend, checkHistory, checkNothingLeft, instancesOf } from './checker.ts'
import { createEventLoop } from './event-loop.ts'
import { drawActs, releaseHeld } from './operators.ts'
import { createPlatforms, describeWish, type Wish } from './platform.ts'
import { createRandom } from './random.ts'
import { bootReplica, type Replica } from './replica.ts'
import { drawDuels, drawFarewells, drawRequests, drawReturns } from './requests.ts'
import type { Features } from './service.ts'
import { createTrace } from './trace.ts'
import { type Blow, calm, drawBlows, drawWeather } from './weather.ts'

/** What platforms ask for. */
const stories = [drawDuels, drawDuels, drawFarewells, drawReturns, drawRequests, drawRequests, drawRequests] as const

/** How one seed went. */
export interface Report {
  readonly seed: number
  readonly problems: readonly string[]
  /** The same for every run of the seed. */
  readonly hash: string
  readonly trace: readonly string[]
  readonly operations: number
  /** How long the world lasted, in its own time. */
  readonly virtualMs: number
}

const start = Date.UTC(2026, 0, 1)
/** Long enough for every deadline and every retry: what has not ended then never does. */
const patienceMs = 3 * 3_600_000
/** Whatever was on its way to anybody has arrived by then. */
const settleMs = 60_000

/** One seed, and nothing that it leaves behind unhandled. */
export async function runSeed(seed: number): Promise<Report> {
  const unhandled: string[] = []
  const onUnhandled = (reason: unknown) => unhandled.push(`a rejection that nobody handles: ${String(reason)}`)
  process.on('unhandledRejection', onUnhandled)
  try {
    const report = await live(seed)
    return { ...report, problems: [...report.problems, ...unhandled] }
  } finally {
    process.off('unhandledRejection', onUnhandled)
  }
}

/** Two or three replicas over one ledger, a backend, platforms and trouble; then none, and everything must have ended. */
async function live(seed: number): Promise<Report> {
  const random = createRandom(seed)
  const world = createEventLoop(start)
  const trace = createTrace(world)
  const problems: string[] = []
  const onProblem = (problem: string) => {
    problems.push(problem)
    trace.add(`PROBLEM ${problem}`)
  }
  let weather = drawWeather(random)
  const shared = { world, trace, onProblem, weather: () => weather }
  const watch = createLedgerWatch()
  const store = watch.wrap(createMemoryStore({ clock: world }))
  const backend = createBackend({ ...shared, random: random.fork() })
  const platforms = createPlatforms({ ...shared, random: random.fork() })
  const features: Features = {
    shares: random.chance(0.3),
    observes: random.chance(0.2),
    // A number of its own: the worlds without it are as they were.
    heals: createRandom(seed ^ 0x4ea1).chance(0.25),
    waits: random.chance(0.3),
    looks: random.chance(0.5),
    holds: random.chance(0.2),
  }
  const births = random.fork()
  const routing = random.fork()
  const replicas: Replica[] = []
  let booting = Promise.resolve()
  let born = 0

  const boot = async (index: number) => {
    born += 1
    const name = `replica ${born}`
    replicas[index] = await bootReplica({ ...shared, name, store, backend, features, random: births.fork() })
  }
  /** Time stands still while a process starts: `run` waits for it. */
  const replace = (index: number) => {
    booting = booting.then(() => boot(index))
  }

  async function run(until: number, isDone?: () => boolean): Promise<void> {
    let isBooting = false
    do {
      await booting
      const before = booting
      await world.run(until, () => booting !== before || (isDone?.() ?? false))
      isBooting = booting !== before
    } while (isBooting)
  }

  const anyReplica = () => replicas[routing.between(0, replicas.length - 1)]

  /** A platform asks again where it got no answer, or is told that something else is in the way. */
  function askAgain(wish: Wish, attempts: number): void {
    let isAnswered = false
    ask(wish, status => {
      isAnswered = status !== 503 && status !== 422
    })
    if (attempts > 1)
      world.after(routing.between(2_000, 12_000), () => {
        if (!isAnswered && weather !== calm) askAgain(wish, attempts - 1)
      })
  }

  function ask(wish: Wish, answered: (status: number) => void): void {
    const replica = anyReplica()
    if (replica === undefined) return
    platforms.send(wish, replica, exchange => {
      const problem = checkAnswer(exchange, watch, platforms.promised.values())
      if (problem !== undefined) onProblem(`${describeWish(wish)} was answered ${exchange.status}: ${problem}`)
      const promised = platforms.promised.get(exchange.body.operation ?? '')
      if (promised !== undefined) world.after(routing.between(500, 30_000), () => pollAnywhere(promised.operation))
      answered(exchange.status)
    })
  }

  function pollAnywhere(operation: string): void {
    const promised = platforms.promised.get(operation)
    const replica = anyReplica()
    if (promised !== undefined && replica !== undefined) platforms.poll(promised, replica)
  }

  function strike({ kind, replica: index, forMs }: Blow): void {
    const replica = replicas[index]
    if (replica === undefined || replica.isDead()) return
    if (kind === 'pause') {
      replica.pause()
      world.after(forMs, replica.resume)
    } else if (kind === 'partition') {
      replica.cut()
      world.after(forMs, replica.mend)
    } else if (kind === 'crash') {
      replica.crash()
      world.after(forMs, () => replace(index))
    } else {
      replica.stop(routing.pick([0, 5_000]))
      world.after(10_000, () => {
        replica.crash()
        replace(index)
      })
    }
  }

  const active = (): readonly Operation[] => watch.active().filter(({ action }) => action !== 'observe')

  /** Nothing is active any more, also after the last message of the time of trouble has arrived. */
  async function becomeIdle(settleMs: number): Promise<void> {
    const end = world.now() + patienceMs
    do {
      const replica = anyReplica()
      if (replica !== undefined) releaseHeld(watch, replica, line => trace.add(line))
      await run(Math.min(end, world.now() + 600_000), () => active().length === 0)
      await run(world.now() + settleMs)
    } while (active().length > 0 && world.now() < end)
    for (const { action, id } of active()) onProblem(`${action} ${trace.name(id)} never ends`)
  }

  /** Asks until it is done, as a platform does. */
  async function insist(wish: Wish): Promise<void> {
    let answer = 0
    for (let attempt = 0; attempt < 20 && ![200, 202, 410].includes(answer); attempt += 1) {
      answer = 0
      ask(wish, status => {
        answer = status
      })
      await run(world.now() + settleMs, () => answer !== 0)
      if (answer === 202 || answer === 422) await becomeIdle(0)
    }
    if (![200, 202, 410].includes(answer)) onProblem(`${describeWish(wish)} is answered ${answer} for ever`)
  }

  async function deleteEverything(): Promise<void> {
    for (const { id, phase, platform } of await instancesOf(store, [...watch.operations().values()])) {
      if (phase === 'deleted') continue
      const wish = { platform: platform.split('/')[1] ?? '', instanceId: id, variant: '', waits: false }
      for (const { id: bindingId } of await store.bindings(id)) await insist({ ...wish, verb: 'unbind', bindingId })
      await insist({ ...wish, verb: 'deprovision' })
    }
  }

  const count = random.between(2, 3)
  for (let index = 0; index < count; index += 1) replace(index)
  const requests = random.pick(stories)(random.fork())
  const times = requests.map(({ at }) => at) as [number, ...number[]]
  for (const request of requests) world.after(request.at, () => askAgain(request, 3))
  for (const blow of drawBlows(random.fork(), count, times)) world.after(blow.at, () => strike(blow))

  // Numbers of their own: the worlds without operators are as they were.
  for (const act of drawActs(createRandom(seed ^ 0x0be5), times))
    world.after(act.at, () => {
      const replica = anyReplica()
      if (replica !== undefined)
        act.on(
          watch,
          replica,
          line => trace.add(line),
          id => trace.name(id),
        )
    })

  await run(start + Math.max(...times) + random.between(5_000, 60_000))
  trace.add('the trouble is over')
  weather = calm
  for (const replica of replicas) {
    replica.resume()
    replica.mend()
  }
  await becomeIdle(settleMs)
  if (problems.length === 0) for (const problem of checkHistory(watch, platforms.promised.values())) onProblem(problem)
  for (const { operation } of platforms.promised.values()) pollAnywhere(operation)
  await run(world.now() + settleMs)
  if (problems.length === 0)
    for (const problem of await checkBackend(store, watch, backend, features)) onProblem(problem)
  if (problems.length === 0) await deleteEverything()
  if (problems.length === 0) for (const problem of checkHistory(watch, platforms.promised.values())) onProblem(problem)
  if (problems.length === 0) for (const problem of await checkNothingLeft(store, watch, backend)) onProblem(problem)
  for (const replica of replicas) replica.crash()
  for (const { action, id, instanceId, state } of watch.operations().values())
    trace.add(`${action} ${trace.name(id)} of ${instanceId} ${state}`)
  return {
    seed,
    problems,
    hash: trace.hash(),
    trace: trace.lines(),
    operations: watch.operations().size,
    virtualMs: world.now() - start,
  }
}
