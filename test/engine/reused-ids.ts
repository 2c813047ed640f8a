import { expect } from 'vitest'
import { type Service, TerminalError } from '../../src/index.ts'
import type { TestBrokerOptions } from '../../src/testing/test-broker.ts'
import { type createWorld, ids, incomplete, type Process, seconds, stopwatch, takes, type World } from './world.ts'

type MakeWorld<Of extends World> = (options: Parameters<typeof createWorld>[0]) => Of | Promise<Of>

export interface Given {
  /** Which of the calls that delete get no answer and land 25 seconds later: the first one, unless said otherwise. */
  readonly lost?: readonly number[]
  /** Which of them get an answer only when they land. */
  readonly slow?: readonly number[]
  /** Which of them are refused for good. */
  readonly refused?: readonly number[]
  readonly service?: Partial<Service>
  readonly settings?: TestBrokerOptions['settings']
}

/**
 * A backend of names, where a call may land late. Both an instance and a binding are one name, so that what is said of one of
 * them can be said of the other.
 */
export async function createBackend<Of extends World>(makeWorld: MakeWorld<Of>, given: Given = {}) {
  const { lost = [1], slow = [], refused = [], service = {}, settings = {} } = given
  const log: string[] = []
  const things = new Set<string>()
  let calls = 0
  const create = (name: string) => {
    log.push(`${now()} create ${name}`)
    things.add(name)
  }
  const remove = async (name: string, saved: unknown) => {
    calls += 1
    log.push(`${now()} delete ${name} ${saved}`)
    if (refused.includes(calls)) throw new TerminalError('not allowed')
    const isSlow = slow.includes(calls)
    if (!isSlow && !lost.includes(calls)) return void things.delete(name)
    const landed = takes(world.clock, seconds(25)).then(() => {
      log.push(`${now()} late delete ${name}`)
      things.delete(name)
    })
    if (!isSlow) throw new Error('no answer')
    await landed
  }
  const world = await makeWorld({
    settings,
    service: {
      callTimeout: '30s',
      async provision(ctx) {
        await ctx.step('create', () => create(ctx.instance.id))
        return { state: { size: ctx.parameters.size ?? 'small' } }
      },
      async deprovision(ctx) {
        await ctx.step('delete', () => remove(ctx.instance.id, ctx.state.size))
      },
      async bind(ctx) {
        await ctx.step('create', () => create(ctx.binding.id))
        return { credentials: {}, state: { size: ctx.parameters.size ?? 'small' } }
      },
      async unbind(ctx) {
        await ctx.step('delete', () => remove(ctx.binding.id, ctx.bindingState.size))
      },
      ...service,
    },
  })
  const now = stopwatch(world.clock)
  return { ...world, log, things }
}

/** What a test does with an instance `i`, or with a binding `b` of it. */
export interface Subject {
  readonly id: string
  ready(process: Process): Promise<void>
  put(process: Process, size?: string): Promise<string>
  delete(process: Process): Promise<string>
  poll(process: Process, operation?: string): Promise<{ readonly state?: string; readonly description?: string }>
  /** The bare requests. */
  putRaw(process: Process, options?: { acceptsIncomplete?: boolean }): Promise<{ readonly status: number }>
  deleteRaw(process: Process): Promise<{ readonly status: number }>
}

const accepted = ({ status, body }: { status: number; body: { operation?: string | null } }) => {
  expect({ status, body }).toMatchObject({ status: 202 })
  return body.operation ?? ''
}

export const subjects: Record<'instance' | 'binding', Subject> = {
  instance: {
    id: 'i',
    ready: async () => {},
    put: async ({ client }, size = 'small') =>
      accepted(await client.provision('i', { ...ids, parameters: { size } }, incomplete)),
    delete: process => process.deprovision('i'),
    poll: (process, operation) => process.poll('i', operation),
    putRaw: ({ client }, options = incomplete) => client.provision('i', ids, options),
    deleteRaw: ({ client }) => client.deprovision('i', ids, incomplete),
  },
  binding: {
    id: 'b',
    ready: async process => void (await process.provision('i')),
    put: async ({ client }, size = 'small') =>
      accepted(await client.bind('i', 'b', { ...ids, parameters: { size } }, incomplete)),
    delete: process => process.unbind('i', 'b'),
    poll: (process, operation) => process.pollBinding('i', 'b', operation),
    putRaw: ({ client }, options = incomplete) => client.bind('i', 'b', ids, options),
    deleteRaw: ({ client }) => client.unbind('i', 'b', ids, incomplete),
  },
}

/** It was made with the size `old` and deleted; a call got no answer. The sweep is due a minute after that. */
export async function deleteInDoubt<Of extends World>(subject: Subject, makeWorld: MakeWorld<Of>, given: Given = {}) {
  const world = await createBackend(makeWorld, given)
  const process = await world.boot()
  await subject.ready(process)
  await world.clock.advance(seconds(1))
  await subject.put(process, 'old')
  await world.clock.advance(seconds(1))
  const deletion = await subject.delete(process)
  await world.clock.advance(seconds(3))
  expect(await subject.poll(process, deletion)).toMatchObject({ state: 'succeeded' })
  expect(world.watch.active()).toMatchObject([{ action: 'sweep', state: 'queued' }])
  const log = () => world.log.filter(line => line.includes(` ${subject.id}`))
  return { ...world, process, deletion, log }
}
