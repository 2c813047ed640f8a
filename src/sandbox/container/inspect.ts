import { isJsonObject, type JsonObject } from '../../protocol/json.ts'
import type { SandboxStatus } from '../../sandbox.ts'
import { type Engine, unavailable } from './engine.ts'

export interface Container {
  readonly id: string
  readonly labels: Readonly<Record<string, string>>
  readonly state: 'new' | 'running' | 'ended' | 'lost'
  /** Milliseconds since 1970; there unless it is new. */
  readonly startedAt?: number
  readonly code: number
  /** The engine's own word for it. */
  readonly said: string
  /** Where the engine tells it: Podman with older cgroups does not. */
  readonly outOfMemory: boolean
}

/** Undefined where the engine knows no such container; that it does not answer is an error. */
export async function inspect(engine: Engine, name: string): Promise<Container | undefined> {
  const answer = await engine.call('GET', `/containers/${encodeURIComponent(name)}/json`)
  if (answer.status === 404) {
    answer.stream.resume()
    return undefined
  }
  if (answer.status !== 200) throw await unavailable(`looking at container ${name}`, answer)
  const body = await answer.json()
  // A reply that was cut off says nothing about the container.
  if (!isJsonObject(body)) throw await unavailable(`looking at container ${name}`, answer)
  return toContainerState(body)
}

function toContainerState(body: unknown): Container {
  const container = asObject(body)
  const state = asObject(container.State)
  const startedAt = Date.parse(String(state.StartedAt))
  const started = startedAt > 0
  return {
    id: String(container.Id),
    labels: Object.fromEntries(
      Object.entries(asObject(asObject(container.Config).Labels)).map(([name, value]) => [name, String(value)]),
    ),
    state: toState(String(state.Status), started),
    startedAt: started ? startedAt : undefined,
    code: Number(state.ExitCode ?? -1),
    said: `${state.Status}, exit code ${state.ExitCode}`,
    outOfMemory: state.OOMKilled === true,
  }
}

/** A status for others, but for the reason it was stopped for, which only the runtime knows. */
export function toStatus({ state, code, said }: Container): SandboxStatus {
  if (state === 'new') return { kind: 'absent' }
  if (state === 'running') return { kind: 'running' }
  if (state === 'lost' || code < 0)
    return {
      kind: 'lost',
      reason: `the container engine has forgotten how it ended (it says: ${said}); the machine may have been restarted`,
    }
  return { kind: 'exited', code }
}

function toState(status: string, started: boolean): Container['state'] {
  if (['exited', 'stopped', 'dead', 'removing'].includes(status)) return started ? 'ended' : 'new'
  if (['created', 'configured', 'initialized'].includes(status)) return started ? 'lost' : 'new'
  return 'running'
}

function asObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}
