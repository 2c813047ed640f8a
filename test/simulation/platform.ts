import type { Clock } from '../../src/clock.ts'
import type { HttpRequest, HttpResponse } from '../../src/http/message.ts'
import type { Random } from './random.ts'
import type { Replica } from './replica.ts'
import type { Trace } from './trace.ts'
import type { Weather } from './weather.ts'

export type Verb = 'provision' | 'update' | 'deprovision' | 'bind' | 'unbind'

export interface Wish {
  readonly verb: Verb
  readonly platform: string
  readonly instanceId: string
  readonly bindingId?: string
  readonly variant: string
  /** The platform takes no 202: it waits. */
  readonly waits: boolean
}

/** One request and what came of it. */
export interface Exchange extends Wish {
  readonly sentAt: number
  readonly answeredAt: number
  readonly status: number
  readonly body: { readonly operation?: string; readonly error?: string; readonly state?: string }
}

/** An operation that a platform was told of. */
export interface Promised extends Wish {
  readonly operation: string
  /** What a poll has said at last: once final, it stays. */
  final?: string
}

export interface Platforms {
  readonly promised: ReadonlyMap<string, Promised>
  send(wish: Wish, replica: Replica, answered: (exchange: Exchange) => void): void
  poll(promised: Promised, replica: Replica, answered?: (state: string | undefined) => void): void
}

export function createPlatforms(options: {
  readonly world: Clock
  readonly random: Random
  readonly weather: () => Weather
  readonly trace: Trace
  readonly onProblem: (problem: string) => void
}): Platforms {
  const { world, random, weather, trace, onProblem } = options
  const promised = new Map<string, Promised>()

  function exchange(replica: Replica, wish: Wish, request: HttpRequest, answered: (exchange: Exchange) => void): void {
    const sentAt = world.now()
    world.after(random.between(0, 30), () =>
      replica.send(request, response => {
        if (random.chance(weather().lostAnswer)) return
        world.after(random.between(0, 30), () =>
          answered({ ...wish, sentAt, answeredAt: world.now(), status: response.status, body: bodyOf(response) }),
        )
      }),
    )
  }

  return {
    promised,
    send(wish, replica, answered) {
      exchange(replica, wish, toRequest(wish), answer => {
        const { operation, error } = answer.body
        const said = operation === undefined ? (error ?? '') : trace.name(operation)
        trace.add(`${describeWish(wish)} at ${replica.name}: ${answer.status} ${said}`)
        if (answer.status === 202) {
          if (operation === undefined) onProblem(`${describeWish(wish)} was answered 202 without an operation`)
          else if (!promised.has(operation)) promised.set(operation, { ...wish, operation })
        }
        answered(answer)
      })
    },
    poll(known, replica, answered = () => {}) {
      const request = get(`${pathOf(known)}/last_operation?operation=${known.operation}`)
      // A poll that was under way when another one said the end may still bring older news.
      const isAfterEnd = known.final !== undefined
      exchange(replica, known, request, ({ status, body: { state } }) => {
        trace.add(`poll of ${trace.name(known.operation)} at ${replica.name}: ${status} ${state ?? ''}`)
        if (status === 200 && isAfterEnd && state === 'in progress')
          onProblem(`${trace.name(known.operation)} was ${known.final} and is in progress again`)
        if (status === 200 && state !== 'in progress' && state !== undefined) {
          if (known.final !== undefined && known.final !== state)
            onProblem(`${trace.name(known.operation)} was ${known.final} and is ${state} now`)
          known.final = state
        }
        if (status >= 500 && status !== 503) onProblem(`a poll was answered ${status}`)
        answered(status === 200 ? state : undefined)
      })
    },
  }
}

export function describeWish({ verb, platform, instanceId, bindingId = '', variant, waits }: Wish): string {
  return `${platform} ${verb} ${instanceId} ${bindingId} ${variant}${waits ? ' and waits' : ''}`
}

const ids = { service_id: 'service', plan_id: 'plan' }
const methods = { provision: 'PUT', update: 'PATCH', deprovision: 'DELETE', bind: 'PUT', unbind: 'DELETE' } as const

function toRequest(wish: Wish): HttpRequest {
  const incomplete = wish.waits ? '' : 'accepts_incomplete=true'
  const isDeletion = wish.verb === 'deprovision' || wish.verb === 'unbind'
  const query = isDeletion ? `service_id=${ids.service_id}&plan_id=${ids.plan_id}&${incomplete}` : incomplete
  const body = isDeletion ? '' : JSON.stringify({ ...ids, parameters: { size: wish.variant } })
  return { ...get(`${pathOf(wish)}?${query}`), method: methods[wish.verb], body: async () => Buffer.from(body) }
}

function pathOf({ platform, instanceId, bindingId }: Wish): string {
  const instance = `/${platform}/v2/service_instances/${instanceId}`
  return bindingId === undefined ? instance : `${instance}/service_bindings/${bindingId}`
}

function get(url: string): HttpRequest {
  return {
    method: 'GET',
    url,
    headers: { host: 'broker.test', 'x-broker-api-version': '2.17', 'content-type': 'application/json' },
    encrypted: false,
    body: async () => new Uint8Array(0),
  }
}

function bodyOf({ body }: HttpResponse): Exchange['body'] {
  return JSON.parse(Buffer.from(body).toString('utf8'))
}
