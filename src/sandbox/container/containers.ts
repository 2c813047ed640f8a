/** What the runtime asks of the engine, about its own containers only. */
import { type Clock, sleep } from '../../clock.ts'
import { isJsonObject, type JsonObject } from '../../protocol/json.ts'
import { type SandboxLimits, SandboxRefusedError, type SandboxStatus } from '../../sandbox.ts'
import { type Answer, type Engine, unavailable } from './engine.ts'
import { limitsLabel, ownerLabel, type UserNamespace } from './to-container.ts'

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

export type Containers = ReturnType<typeof createContainers>

const prefix = 'purser-'

/** How often a container is looked at before its engine is said to have a fault, and the pause between two looks. */
const looks = 5
const lookAgainAfter = 100

export function nameOf(sandbox: string): string {
  return `${prefix}${sandbox}`
}

export function limitsOf({ labels }: Container): SandboxLimits {
  return JSON.parse(labels[limitsLabel] ?? '{"time":0}')
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

/** `owner` is the runtime's folder: it tells the brokers on one engine apart. */
export function createContainers(engine: Engine, owner: string, clock: Clock) {
  let userNamespace: UserNamespace | undefined

  return {
    /** The one that containers need. The engine is asked once, because it takes long to answer. */
    async findUserNamespace(): Promise<UserNamespace> {
      userNamespace ??= await askForUserNamespace(engine)
      return userNamespace
    },

    /** Undefined where there is none of that sandbox. */
    find: (sandbox: string) => inspect(engine, nameOf(sandbox), clock),

    findById: (id: string) => inspect(engine, id, clock),

    async list() {
      const filters = encodeURIComponent(JSON.stringify({ label: [`${ownerLabel}=${owner}`] }))
      const answer = await engine.call('GET', `/containers/json?all=1&filters=${filters}`)
      const found = answer.status === 200 ? await answer.json() : undefined
      if (!Array.isArray(found)) throw await unavailable('listing the containers', answer)
      return found.filter(isJsonObject).flatMap(each => {
        const [name] = Array.isArray(each.Names) ? each.Names.map(String) : []
        const sandbox = name?.replace(/^\//, '')
        return sandbox?.startsWith(prefix)
          ? [{ id: String(each.Id), sandbox: sandbox.slice(prefix.length), running: each.State === 'running' }]
          : []
      })
    },

    /** SIGTERM, and SIGKILL after the grace; resolves when it has ended. */
    async stop({ id }: Container, graceMs: number): Promise<void> {
      const path = graceMs === 0 ? 'kill?signal=SIGKILL' : `stop?t=${Math.ceil(graceMs / 1000)}`
      const answer = await engine.call('POST', `/containers/${id}/${path}`, { delay: graceMs })
      // It ended by itself, or is gone.
      if ([204, 304, 404, 409].includes(answer.status)) return void answer.stream.resume()
      const failure = await unavailable(`stopping container ${id}`, answer)
      // Podman also answers 500 where it ended at this moment.
      if ((await inspect(engine, id, clock))?.state === 'running') throw failure
    },

    /** With `force`, also one that runs. */
    async discard(idOrName: string, force: boolean): Promise<void> {
      const answer = await engine.call('DELETE', `/containers/${idOrName}?v=1${force ? '&force=1' : ''}`)
      if (![200, 204, 404].includes(answer.status)) throw await unavailable('removing a container', answer)
      answer.stream.resume()
    },
  }
}

/** Undefined where the engine knows no such container; that it does not answer is an error. */
async function inspect(engine: Engine, name: string, clock: Clock): Promise<Container | undefined> {
  const answer = await look(engine, name, clock)
  if (answer.status === 404) {
    answer.stream.resume()
    return undefined
  }
  const body = answer.status === 200 ? await answer.json() : undefined
  // A reply that was cut off says nothing about the container.
  if (!isJsonObject(body)) throw await unavailable(`looking at container ${name}`, answer)
  const state = asObject(body.State)
  const startedAt = Date.parse(String(state.StartedAt))
  const started = startedAt > 0
  const labels = Object.entries(asObject(asObject(body.Config).Labels))
  return {
    id: String(body.Id),
    labels: Object.fromEntries(labels.map(([label, value]) => [label, String(value)])),
    state: toState(String(state.Status), started),
    startedAt: started ? startedAt : undefined,
    code: Number(state.ExitCode ?? -1),
    said: `${state.Status}, exit code ${state.ExitCode}`,
    outOfMemory: state.OOMKilled === true,
  }
}

/** Podman answers 500 while the process of a container ends: it reads what /proc no longer has. So it is asked again. */
async function look(engine: Engine, name: string, clock: Clock): Promise<Answer> {
  for (let number = 1; ; number++) {
    const answer = await engine.call('GET', `/containers/${encodeURIComponent(name)}/json`)
    if (answer.status !== 500 || number === looks) return answer
    answer.stream.resume()
    await sleep(clock, lookAgainAfter)
  }
}

function toState(status: string, started: boolean): Container['state'] {
  if (['exited', 'stopped', 'dead', 'removing'].includes(status)) return started ? 'ended' : 'new'
  if (['created', 'configured', 'initialized'].includes(status)) return started ? 'lost' : 'new'
  return 'running'
}

function asObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}

async function askForUserNamespace(engine: Engine): Promise<UserNamespace> {
  // A broker that runs as root uses an engine that does so too.
  if (process.getuid?.() === 0) return 'own'
  const answer = await engine.call('GET', '/info')
  const info = answer.status === 200 ? await answer.json() : undefined
  if (!isJsonObject(info)) throw await unavailable('asking the engine what it is', answer)
  if (info.Rootless === true) return 'keep-id'
  if (Array.isArray(info.SecurityOptions) && info.SecurityOptions.includes('name=rootless'))
    throw new SandboxRefusedError('a rootless Docker cannot run bundles; use Docker itself, or Podman')
  return 'own'
}
