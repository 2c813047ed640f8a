/** What the runtime asks of the engine, about its own containers only. */
import { isJsonObject } from '../../protocol/json.ts'
import type { SandboxLimits } from '../../sandbox.ts'
import { type Engine, unavailable } from './engine.ts'
import { type Container, inspect } from './inspect.ts'
import { limitsLabel, ownerLabel } from './to-container.ts'

export type Containers = ReturnType<typeof createContainers>

const prefix = 'purser-'

export function nameOf(sandbox: string): string {
  return `${prefix}${sandbox}`
}

export function limitsOf({ labels }: Container): SandboxLimits {
  return JSON.parse(labels[limitsLabel] ?? '{"time":0}')
}

/** `owner` is the runtime's folder: it tells the brokers on one engine apart. */
export function createContainers(engine: Engine, owner: string) {
  return {
    /** Undefined where there is none of that sandbox. */
    find: (sandbox: string) => inspect(engine, nameOf(sandbox)),

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
      if (![204, 304, 404, 409].includes(answer.status)) throw await unavailable(`stopping container ${id}`, answer)
      answer.stream.resume()
    },

    /** With `force`, also one that runs. */
    async discard(idOrName: string, force: boolean): Promise<void> {
      const answer = await engine.call('DELETE', `/containers/${idOrName}?v=1${force ? '&force=1' : ''}`)
      if (![200, 204, 404].includes(answer.status)) throw await unavailable('removing a container', answer)
      answer.stream.resume()
    },
  }
}
