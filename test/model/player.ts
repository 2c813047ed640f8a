import { expect } from 'vitest'
import type { OsbClient } from '../../src/client/index.ts'
import { type Fault, parts } from './backend.ts'
import {
  applyAccepted,
  applyEnd,
  createResource,
  type Expected,
  expectBind,
  expectDeprovision,
  expectProvision,
  expectUnbind,
  expectUpdate,
  type InstanceModel,
  isAbsent,
  type Pending,
  type Resource,
} from './model.ts'
import type { Simulation } from './simulation.ts'

export type Command =
  | { readonly type: 'provision' | 'update'; readonly instance: string; readonly variant: string }
  | { readonly type: 'deprovision'; readonly instance: string }
  | { readonly type: 'bind'; readonly instance: string; readonly binding: string; readonly variant: string }
  | { readonly type: 'unbind'; readonly instance: string; readonly binding: string }
  | { readonly type: 'poll'; readonly index: number }
  | { readonly type: 'hold'; readonly verb: 'hold' | 'release'; readonly index: number }
  | { readonly type: 'advance'; readonly ms: number }
  | { readonly type: 'crash'; readonly points: number }
  | { readonly type: 'restart' }
  | { readonly type: 'faults'; readonly faults: readonly Fault[] }

type Request = Extract<Command, { readonly instance: string }>

interface Known {
  readonly instance: string
  readonly binding?: string
  readonly operation: string
  /** Once seen, it never changes. */
  ended?: string
}

const ids = { service_id: 'service', plan_id: 'plan' }
const incomplete = { acceptsIncomplete: true } as const

/** Plays commands against a broker and against the model, and says where they differ. */
export class Player {
  readonly #simulation: Simulation
  readonly #instances = new Map<string, InstanceModel>()
  readonly #known: Known[] = []
  /** A call that lands late may overwrite what a later one has set: then values say nothing. */
  #late = false

  constructor(simulation: Simulation) {
    this.#simulation = simulation
  }

  async play(command: Command): Promise<void> {
    const simulation = this.#simulation
    if (command.type === 'advance') await simulation.advance(command.ms)
    else if (command.type === 'crash') await simulation.crashIn(command.points)
    else if (command.type === 'restart') await simulation.restart()
    else if (command.type === 'faults') this.#plan(command.faults)
    else if (command.type === 'poll') await this.#pollAgain(command.index)
    else if (command.type === 'hold') await this.#act(command.verb, command.index)
    else await this.#request(command)
    expect(simulation.watch.problems()).toEqual([])
  }

  /** No more faults, no more crashes: everything that was accepted ends, and the backend holds what the ledger says. */
  async finish(): Promise<void> {
    this.#simulation.backend.plan([])
    await this.#simulation.crashIn(undefined)
    for (let index = 0; index < this.#known.length; index += 1) await this.#act('release', index)
    await this.#idle()
    await this.#sync()
    for (const known of this.#known) await this.#poll(known)
    expect(this.#known.filter(({ ended }) => ended === undefined)).toEqual([])
    this.#compare()
    for (const [id, instance] of this.#instances) await this.#deleteAll(id, instance)
    await this.#idle()
    const unswept = this.#unswept()
    const left = [...this.#simulation.backend.things.keys()]
    expect(left.filter(name => !unswept.has(name.split('/')[0] ?? ''))).toEqual([])
    for (const id of this.#instances.keys()) {
      if (unswept.has(id)) continue
      expect((await this.#simulation.ledger().instance(id))?.phase ?? 'deleted').toBe('deleted')
      expect(await this.#simulation.ledger().bindings(id)).toEqual([])
    }
    expect(this.#simulation.watch.problems()).toEqual([])
  }

  #plan(faults: readonly Fault[]): void {
    this.#late ||= faults.includes('late')
    this.#simulation.backend.plan(faults)
  }

  async #request(command: Request): Promise<void> {
    await this.#sync()
    const instance = this.#instance(command.instance)
    const resource = 'binding' in command ? bindingOf(instance, command.binding) : instance
    const expected = this.#expect(command, instance, resource)
    const answer = await this.#simulation.send(client => sendTo(client, command))
    const pending = { action: command.type, ...('variant' in command ? { variant: command.variant } : {}) } as const
    if (answer === undefined) return this.#recover(command, resource, expected, pending)

    const where = `${JSON.stringify(command)} was answered ${answer.status} ${answer.text}`
    expect(answer.status, where).toBe(typeof expected === 'number' ? expected : 202)
    if (expected === 200 && isDeletion(command)) this.#undone(resource)
    if (typeof expected === 'number') return
    const operation = answer.body.operation ?? ''
    if (expected === 'same') return expect(operation, where).toBe(resource.pending?.operation)
    this.#accepted(command, resource, { ...pending, operation })
  }

  /** The broker died before it answered: the request was accepted, or it was not; the ledger says which. */
  async #recover(
    command: Request,
    resource: Resource,
    expected: Expected,
    pending: Omit<Pending, 'operation'>,
  ): Promise<void> {
    await this.#simulation.restart()
    const ledger = this.#simulation.ledger()
    const row =
      'binding' in command
        ? await ledger.binding(command.instance, command.binding)
        : await ledger.instance(command.instance)
    if (expected === 200 && isDeletion(command) && row?.phase === 'deleted') return this.#undone(resource)
    const operation = row?.lastOperationId
    if (operation === undefined || this.#known.some(known => known.operation === operation)) return
    expect(expected, `${JSON.stringify(command)} was accepted, and should not have been`).toBe('new')
    this.#accepted(command, resource, { ...pending, operation })
  }

  /** Deleted before it had begun. */
  #undone(resource: Resource): void {
    delete resource.pending
    Object.assign(resource, createResource())
  }

  #accepted(command: Request, resource: Resource, pending: Pending): void {
    expect(this.#known.map(({ operation }) => operation)).not.toContain(pending.operation)
    const { instance } = command
    this.#known.push({
      instance,
      ...('binding' in command ? { binding: command.binding } : {}),
      operation: pending.operation,
    })
    applyAccepted(resource, pending)
  }

  #expect(command: Request, instance: InstanceModel, resource: Resource): Expected {
    const active = this.#simulation.watch.active().filter(({ instanceId }) => instanceId === command.instance)
    const isBound = active.some(({ bindingId, action }) => bindingId !== undefined && action !== 'sweep')
    const pending = active.find(({ id }) => id === resource.pending?.operation)
    const unbegun = pending?.input.sweepFirst !== undefined
    switch (command.type) {
      case 'provision':
        return expectProvision(instance, command.variant)
      case 'update':
        return expectUpdate(instance, command.variant, isBound)
      case 'deprovision':
        return expectDeprovision(instance, isBound, unbegun)
      case 'bind':
        return expectBind(instance, resource, command.variant)
      case 'unbind':
        return expectUnbind(instance, resource, unbegun)
    }
  }

  /** Brings the model to where the platform can know the broker to be: by polling. */
  async #sync(): Promise<void> {
    let again = true
    while (again) {
      if (this.#simulation.isCrashed()) await this.#simulation.restart()
      again = false
      for (const known of this.#known) {
        if (known.ended !== undefined) continue
        const ended = await this.#poll(known)
        if (ended === 'crashed') again = true
      }
    }
  }

  async #poll(known: Known): Promise<string | undefined> {
    const { instance, binding, operation } = known
    const answer = await this.#simulation.send(client =>
      binding === undefined
        ? client.lastOperation(instance, { operation })
        : client.lastBindingOperation(instance, binding, { operation }),
    )
    if (answer === undefined) return 'crashed'
    expect(answer.status, `poll of ${operation}: ${answer.text}`).toBe(200)
    const { state } = answer.body
    if (known.ended !== undefined) expect(state, `${operation} has ended as ${known.ended}`).toBe(known.ended)
    if (state === 'in progress') return undefined
    if (known.ended === undefined) this.#ended(known, state === 'succeeded' ? 'succeeded' : 'failed')
    return undefined
  }

  #ended(known: Known, state: 'succeeded' | 'failed'): void {
    known.ended = state
    const instance = this.#instance(known.instance)
    const resource = known.binding === undefined ? instance : bindingOf(instance, known.binding)
    if (resource.pending?.operation !== known.operation) return
    applyEnd(resource, state)
    if (resource === instance && isAbsent(instance)) instance.bindings.clear()
  }

  async #pollAgain(index: number): Promise<void> {
    const known = this.#known[index % Math.max(1, this.#known.length)]
    if (known !== undefined) await this.#poll(known)
  }

  /** An operator holds what waits, and releases it. For the platform it is in progress all the time. */
  async #act(verb: 'hold' | 'release', index: number): Promise<void> {
    const known = this.#known[index % Math.max(1, this.#known.length)]
    if (known === undefined) return
    const { operation } = known
    const answer = await this.#simulation.send((_, admin) => admin.actOnOperation(operation, verb))
    if (answer === undefined) return this.#simulation.restart()
    expect([202, 409], `${verb} ${operation}: ${answer.text}`).toContain(answer.status)
    if (known.ended !== undefined) expect(answer.status, `${verb} of what has ended`).toBe(409)
    if (answer.status === 409 || verb === 'release') return
    const row = await this.#simulation.ledger().operation(operation)
    expect([row?.state, row?.hold?.by !== undefined], `${operation} is held`).toEqual(['queued', true])
  }

  #compare(): void {
    const { things } = this.#simulation.backend
    const unswept = this.#unswept()
    const ready = [...this.#instances.values()].some(({ there, damaged }) => there === 'present' && !damaged)
    if (this.#simulation.shared && ready) expect(things.has('shared'), 'what ready instances share').toBe(true)
    for (const [id, instance] of this.#instances) {
      if (unswept.has(id)) continue
      const found = [...things.keys()].filter(name => name.startsWith(`${id}/`)).toSorted()
      if (isAbsent(instance)) expect(found, `${id} is deleted`).toEqual([])
      if (instance.there === 'present' && !instance.damaged)
        expect(found, `${id} is ready`).toEqual(expect.arrayContaining(parts.map(part => `${id}/${part}`)))
      if (instance.value !== undefined && !instance.damaged && !this.#late)
        expect(parts.map(part => things.get(`${id}/${part}`))).toEqual(parts.map(() => instance.value))
      for (const [bindingId, binding] of instance.bindings) {
        const name = `${id}/binding ${bindingId}`
        if (isAbsent(binding)) expect(found, `${name} is deleted`).not.toContain(name)
        if (binding.there === 'present' && !binding.damaged) expect(found, `${name} is ready`).toContain(name)
      }
    }
  }

  /** Instances of which the backend refused to let a sweep remove what is left: that is for its operators. */
  #unswept(): ReadonlySet<string> {
    const operations = [...this.#simulation.watch.operations().values()]
    const refused = operations.filter(({ action, state }) => action === 'sweep' && state === 'failed')
    return new Set(refused.map(({ instanceId }) => instanceId))
  }

  async #deleteAll(id: string, instance: InstanceModel): Promise<void> {
    for (const binding of instance.bindings.keys()) {
      await this.play({ type: 'unbind', instance: id, binding })
      await this.#idle()
    }
    await this.play({ type: 'deprovision', instance: id })
    await this.#idle()
    await this.#sync()
    expect(isAbsent(instance), `${id} is deleted`).toBe(true)
  }

  /** Nothing is active, and what was sent to the backend long ago has landed. */
  async #idle(): Promise<void> {
    for (let round = 0; round < 200; round += 1) {
      await this.#simulation.advance(30_000, 30_000)
      if (this.#simulation.watch.active().length === 0) return this.#simulation.advance(30_000, 30_000)
    }
    throw new Error(`still active: ${JSON.stringify(this.#simulation.watch.active())}`)
  }

  #instance(id: string): InstanceModel {
    const instance = this.#instances.get(id) ?? { ...createResource(), bindings: new Map() }
    this.#instances.set(id, instance)
    return instance
  }
}

function isDeletion({ type }: Request): boolean {
  return type === 'deprovision' || type === 'unbind'
}

function bindingOf({ bindings }: InstanceModel, id: string): Resource {
  const binding = bindings.get(id) ?? createResource()
  bindings.set(id, binding)
  return binding
}

async function sendTo(
  client: OsbClient,
  command: Request,
): Promise<{ readonly status: number; readonly text: string; readonly body: { readonly operation?: string | null } }> {
  const { instance } = command
  switch (command.type) {
    case 'provision':
      return client.provision(instance, { ...ids, parameters: { size: command.variant } }, incomplete)
    case 'update':
      return client.update(instance, { ...ids, parameters: { size: command.variant } }, incomplete)
    case 'deprovision':
      return client.deprovision(instance, ids, incomplete)
    case 'bind':
      return client.bind(instance, command.binding, { ...ids, parameters: { mode: command.variant } }, incomplete)
    case 'unbind':
      return client.unbind(instance, command.binding, ids, incomplete)
  }
}
