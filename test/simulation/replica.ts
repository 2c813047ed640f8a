import { createOpenAuthenticator } from '../../src/authenticator/open.ts'
import type { Clock } from '../../src/clock.ts'
import type { HttpRequest, HttpResponse } from '../../src/http/message.ts'
import { observeLines } from '../../src/observer/log.ts'
import type { Observer } from '../../src/observer.ts'
import { startBroker } from '../../src/running/start-broker.ts'
import { readSettings } from '../../src/settings/settings.ts'
import type { Store } from '../../src/store.ts'
import { type Backend, callTimeoutMs } from './backend.ts'
import { createGate } from './gate.ts'
import { createLink, noConnection } from './link.ts'
import type { Random } from './random.ts'
import { platforms } from './requests.ts'
import { createSimulatedService, type Features } from './service.ts'
import type { Trace } from './trace.ts'
import type { Weather } from './weather.ts'

/** One process of the broker, with all that can happen to it. */
export interface Replica {
  readonly name: string
  isDead(): boolean
  /** The answer comes through `answered`, if it ever does. */
  send(request: HttpRequest, answered: (response: HttpResponse) => void): void
  crash(): void
  pause(): void
  resume(): void
  cut(): void
  mend(): void
  /** Stops as a process does that was asked to. */
  stop(graceMs: number): void
}

export interface ReplicaOptions {
  readonly name: string
  readonly world: Clock
  readonly store: Store
  readonly backend: Backend
  readonly features: Features
  readonly random: Random
  readonly weather: () => Weather
  readonly trace: Trace
  readonly onProblem: (problem: string) => void
}

export const leaseMs = 30_000

export async function bootReplica(options: ReplicaOptions): Promise<Replica> {
  const { name, world, random, trace } = options
  const gate = createGate(world, random.fork(), random.pick([0, 0, random.between(-300_000, 300_000)]))
  const link = createLink(options.store, { ...options, process: name, gate, random: random.fork() })
  const chance = random.fork()
  const broker = await startBroker({
    definition: { services: [createSimulatedService(options.backend.connect(gate, name), options.features)] },
    store: link.store,
    authenticator: createOpenAuthenticator(),
    settings: readSettings({
      osb: { requireOrgAndSpace: false, prefixes: platforms },
      engine: {
        lease: leaseMs,
        callTimeout: callTimeoutMs,
        retry: { initial: 1_000, factor: 2, max: 15_000 },
        concurrency: random.pick([1, 2, 16]),
        pollInterval: 5_000,
      },
      ...(options.features.heals && { chores: { observe: '*/3 * * * * *' } }),
    }),
    clock: gate.clock,
    observer: {
      ...createJudge(name, options.onProblem),
      'operation.held': ({ operationId }) => trace.add(`${trace.name(operationId)} is held`),
    },
    random: () => chance.next(),
  })
  trace.add(`${name} starts`)
  const note = (what: string, act: () => void) => () => {
    if (gate.isDead()) return
    trace.add(`${name} ${what}`)
    act()
  }
  return {
    name,
    isDead: gate.isDead,
    send: (request, answered) => gate.deliver(() => void broker.app(request).then(answered)),
    crash: note('dies', gate.kill),
    pause: note('is paused', gate.pause),
    resume: note('goes on', gate.resume),
    cut: note('loses the store', link.cut),
    mend: note('has the store again', link.mend),
    stop: graceMs => note('is stopped', () => gate.deliver(() => void broker.stop(graceMs)))(),
  }
}

/** A broker may complain of a store that does not answer, and of an author's code; of nothing else. */
function createJudge(name: string, onProblem: (problem: string) => void): Observer {
  return observeLines('error', ({ event, text, fields: { error } }) => {
    if (event === 'operation.poisonous') return
    if (typeof error === 'object' && error.message === noConnection) return
    onProblem(`${name} says: ${text}: ${JSON.stringify(error)}`)
  })
}
