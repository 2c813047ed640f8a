import type { Clock } from '../../src/clock.ts'
import { TerminalError } from '../../src/index.ts'
import type { Gate } from './gate.ts'
import type { Random } from './random.ts'
import type { Trace } from './trace.ts'
import type { CallKind, Weather } from './weather.ts'

/** A remote system that takes every call, from whomever and whenever it comes: it knows nothing of fences. */
export interface Backend {
  readonly things: ReadonlyMap<string, string>
  /** Whether a call for this thing was overtaken by a call of a later holder: then its value is anybody's. */
  isOvertaken(name: string): boolean
  /** The backend as one process sees it. */
  connect(gate: Gate, process: string): BackendClient
}

export interface BackendClient {
  put(name: string, value: string, fence: number): Promise<void>
  drop(name: string, fence: number): Promise<void>
  /** A look without an effect. */
  has(names: readonly string[]): Promise<boolean>
  /** Another one, which is sometimes "not yet". */
  isStarted(): Promise<boolean>
}

/** What the simulated brokers are told: a call that lands later than twice this after it was sent is nobody's promise. */
export const callTimeoutMs = 12_000

const usualMs = { put: [50, 200, 1_000, 8_000], drop: [50, 200, 1_000, 8_000], look: [200, 8_000] } as const

export function createBackend(options: {
  readonly world: Clock
  readonly random: Random
  readonly weather: () => Weather
  readonly trace: Trace
}): Backend {
  const { world, random, weather, trace } = options
  const things = new Map<string, string>()
  const highest = new Map<string, number>()
  const overtaken = new Set<string>()

  function land(what: string, name: string, fence: number, effect: () => void): void {
    if (fence < (highest.get(name) ?? 0)) overtaken.add(name)
    highest.set(name, Math.max(fence, highest.get(name) ?? 0))
    effect()
    trace.add(`backend ${what} by ${fence}`)
  }

  /** Most of them in the last moments that anybody promises to wait for. */
  function lateness(): number {
    return random.between(random.pick([1, 1.8, 1.9]) * callTimeoutMs, 2 * callTimeoutMs)
  }

  function call(gate: Gate, kind: CallKind, what: string, effect: () => void): Promise<void> {
    const fate = random.weighted(weather().backend[kind])
    trace.add(`${what}: ${fate}`)
    return new Promise((resolve, reject) => {
      const answer = (settle: () => void) => gate.deliver(settle)
      const ms = fate === 'late' ? lateness() : random.between(10, random.pick(usualMs[kind]))
      if (fate === 'hang') return
      world.after(ms, () => {
        if (fate === 'refused') return answer(() => reject(new TerminalError('The backend does not want to.')))
        if (fate === 'error') return answer(() => reject(new Error('the backend is out of order')))
        effect()
        if (fate === 'lost') answer(() => reject(new Error('the answer was lost')))
        else answer(() => resolve())
      })
    })
  }

  return {
    things,
    isOvertaken: name => overtaken.has(name),
    connect: (gate, process) => ({
      put: (name, value, fence) =>
        call(gate, 'put', `${process} calls put ${name} by ${fence}`, () =>
          land(`puts ${name}=${value}`, name, fence, () => things.set(name, value)),
        ),
      drop: (name, fence) =>
        call(gate, 'drop', `${process} calls drop ${name} by ${fence}`, () =>
          land(`drops ${name}`, name, fence, () => things.delete(name)),
        ),
      has: async names => {
        let areThere = false
        await call(gate, 'look', `${process} looks for ${names.join(', ')}`, () => {
          areThere = names.every(name => things.has(name))
        })
        return areThere
      },
      isStarted: async () => {
        await call(gate, 'look', `${process} looks`, () => {})
        return random.chance(0.6)
      },
    }),
  }
}
