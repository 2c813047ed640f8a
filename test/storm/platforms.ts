/** Platforms that ask for things at random, of whichever replica, and write down what they asked and what they were told. */
import { createOsbClient, type OsbClient } from '../../src/client/index.ts'
import type { Random } from './random.ts'
import { type Asked, monotonicNow, type Polled, type RequestAction } from './record.ts'
import { type PlanId, plans, serviceId } from './service.ts'
import { passwordOf } from './settings.ts'

/** One instance of one platform, and all that was said about it, in order: an actor has one thing under way at a time. */
export interface Actor {
  readonly platform: string
  readonly instance: string
  readonly plan: PlanId
  readonly events: (Asked | Polled)[]
}

export const bindings = ['b1', 'b2'] as const
const variants = ['small', 'large'] as const
/** What is done when something was accepted: in the middle of it most things can go wrong. */
const afterwards = [
  [5, 'follow'],
  [3, 'delete'],
  [2, 'poll'],
] as const
const incomplete = { acceptsIncomplete: true } as const

export function createActors(platforms: readonly string[], instancesEach: number): readonly Actor[] {
  return platforms.flatMap((platform, place) =>
    Array.from({ length: instancesEach }, (_, index) => ({
      platform,
      instance: `${platform}-${index}`,
      plan: plans[(place + index) % plans.length] ?? 'steps',
      events: [],
    })),
  )
}

export class Player {
  readonly #actor: Actor
  readonly #random: Random
  readonly #urls: () => readonly string[]
  readonly #clients = new Map<string, OsbClient>()
  /** What it believes, so that most of its requests make sense. */
  readonly #bound = new Set<string>()
  #there = false
  #group = 0

  constructor(actor: Actor, random: Random, urls: () => readonly string[]) {
    this.#actor = actor
    this.#random = random
    this.#urls = urls
  }

  /** One request, or several equal ones at once; then perhaps the end of it, perhaps not. */
  async play(isOver: () => boolean): Promise<void> {
    const random = this.#random
    if (this.#urls().length === 0) return pause(50)
    const action = this.#choose()
    const binding = action === 'bind' || action === 'unbind' ? random.pick(bindings) : undefined
    const asking = action === 'provision' || action === 'update' || action === 'bind'
    const odd = action === 'update' ? 0.5 : 0.1
    const variant = asking ? variants[random.chance(odd) ? 1 : 0] : undefined
    const asked = await this.ask(action, random.chance(0.25) ? 2 : 1, binding, variant)
    const accepted = asked.find(({ status }) => status === 202)
    const next = accepted?.operation === undefined ? 'poll' : random.weighted(afterwards)
    if (next === 'follow') await this.follow(accepted?.operation ?? '', binding, isOver)
    if (next === 'delete' && asking) await this.ask(binding === undefined ? 'deprovision' : 'unbind', 1, binding)
    if (next === 'poll' && random.chance(0.3)) await this.#pollAny()
    await pause(random.int(0, 150))
  }

  /** Polls until it has ended. */
  async follow(operation: string, binding: string | undefined, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const state = await this.poll(operation, binding)
      if (state === 'succeeded' || state === 'failed') return
      await pause(this.#random.int(20, 200))
    }
  }

  /** In the end: the end of all that was ever accepted. What has none by then is for the checker. */
  async followAll(isOver: () => boolean): Promise<void> {
    const accepted = this.#actor.events.filter(event => event.type === 'asked' && event.operation !== undefined)
    const known = new Map(accepted.map(({ operation = '', binding }) => [operation, binding]))
    for (const [operation, binding] of known) await this.follow(operation, binding, isOver)
  }

  /** Sends until it is accepted; answers the operation. */
  async begin(action: RequestAction, variant?: string): Promise<string> {
    for (;;) {
      const [asked] = await this.ask(action, 1, undefined, variant)
      if (asked?.operation !== undefined) return asked.operation
      await pause(50)
    }
  }

  /** Sends until it is gone. */
  async remove(isOver: () => boolean): Promise<void> {
    for (const binding of bindings) await this.#remove('unbind', isOver, binding)
    await this.#remove('deprovision', isOver)
  }

  async #remove(action: 'unbind' | 'deprovision', isOver: () => boolean, binding?: string): Promise<void> {
    while (!isOver()) {
      const [asked] = await this.ask(action, 1, binding)
      if (asked?.status === 410) return
      if (asked?.operation !== undefined) await this.follow(asked.operation, binding, isOver)
      else await pause(100)
    }
  }

  #choose(): RequestAction {
    if (!this.#there)
      return this.#random.weighted([
        [8, 'provision'],
        [1, 'update'],
        [1, 'deprovision'],
        [1, 'bind'],
        [1, 'unbind'],
      ])
    return this.#random.weighted([
      [1, 'provision'],
      [4, 'update'],
      [this.#bound.size > 0 ? 1 : 4, 'deprovision'],
      [4, 'bind'],
      [this.#bound.size > 0 ? 6 : 1, 'unbind'],
    ])
  }

  ask(action: RequestAction, times: number, binding?: string, variant?: string): Promise<readonly Asked[]> {
    const wish: Wish = {
      action,
      binding,
      variant,
    }
    return this.askAtOnce(Array.from({ length: times }, () => wish))
  }

  /** All at the same time, each of any replica. */
  async askAtOnce(wishes: readonly Wish[]): Promise<readonly Asked[]> {
    this.#group += 1
    const { instance, plan, events } = this.#actor
    const about = { type: 'asked', instance, group: this.#group } as const
    const sent = wishes.map(wish => ask(this.#client(), { ...about, ...wish }, plan))
    const asked = await Promise.all(sent)
    events.push(...asked)
    for (const { action, binding, status } of asked) this.#learn(action, binding, status)
    return asked
  }

  async poll(operation: string, binding?: string): Promise<string | undefined> {
    const { instance, events } = this.#actor
    const start = monotonicNow()
    const about = { type: 'polled', instance, operation, start, binding } as const
    try {
      const client = this.#client()
      const { status, body, text } =
        binding === undefined
          ? await client.lastOperation(instance, { operation })
          : await client.lastBindingOperation(instance, binding, { operation })
      const { state } = body
      events.push({ ...about, end: monotonicNow(), status, text, state })
      return state
    } catch {
      events.push({ ...about, end: monotonicNow() })
      return undefined
    }
  }

  async #pollAny(): Promise<void> {
    const asked = this.#actor.events.filter(event => event.type === 'asked' && event.operation !== undefined)
    if (asked.length === 0) return
    const { operation = '', binding } = this.#random.pick(asked)
    await this.poll(operation, binding)
  }

  #learn(action: RequestAction, binding: string | undefined, status: number | undefined): void {
    const is = status === 200 || status === 202
    if (binding !== undefined) {
      if (is && action === 'bind') this.#bound.add(binding)
      if ((is && action === 'unbind') || status === 410) this.#bound.delete(binding)
      if (status === 404) this.#there = false
    } else if (is || status === 404 || status === 410) {
      this.#there = is && action !== 'deprovision'
      if (!this.#there) this.#bound.clear()
    }
  }

  /** Of a replica that is thought to be there. */
  #client(): OsbClient {
    const urls = this.#urls()
    // Nobody listens there: no answer.
    const url = urls.length === 0 ? 'http://127.0.0.1:9' : this.#random.pick(urls)
    const { platform } = this.#actor
    const known = this.#clients.get(url)
    // Patient: an answer that comes late is an answer, and one that was not waited for could be anything.
    const client =
      known ?? createOsbClient({ url, username: platform, password: passwordOf(platform), timeout: 60_000 })
    this.#clients.set(url, client)
    return client
  }
}

export type Wish = Pick<Asked, 'action' | 'binding' | 'variant'>

type About = Omit<Asked, 'start' | 'end' | 'status' | 'operation' | 'text'>

async function ask(client: OsbClient, about: About, plan: PlanId): Promise<Asked> {
  const start = monotonicNow()
  try {
    const { status, body, text } = await send(client, about, plan)
    const operation = body.operation ?? undefined
    return { ...about, start, end: monotonicNow(), status, text, operation }
  } catch {
    return { ...about, start, end: monotonicNow() }
  }
}

function send(
  client: OsbClient,
  { action, instance, binding = '', variant = '' }: About,
  plan: PlanId,
): Promise<{ readonly status: number; readonly text: string; readonly body: { readonly operation?: string | null } }> {
  const ids = { service_id: serviceId, plan_id: plan }
  const parameters = { size: variant }
  switch (action) {
    case 'provision':
      return client.provision(instance, { ...ids, parameters }, incomplete)
    case 'update':
      return client.update(instance, { service_id: serviceId, parameters }, incomplete)
    case 'deprovision':
      return client.deprovision(instance, ids, incomplete)
    case 'bind':
      return client.bind(instance, binding, { ...ids, parameters }, incomplete)
    case 'unbind':
      return client.unbind(instance, binding, ids, incomplete)
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
