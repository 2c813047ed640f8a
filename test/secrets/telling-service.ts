/** A service that says everything it knows wherever it can, and fails in every way there is. */
import { defineService, type Hook, type Service, sensitive, TerminalError } from '../../src/index.ts'
import type { Canaries } from './canaries.ts'

export const places = [
  'login',
  'cookie',
  'header',
  'query',
  'parameter',
  'parameter-unmarked',
  'bind-parameter',
  'identity',
  'step',
  'step-plain',
  'state',
  'state-plain',
  'binding-state',
  'credential',
  'uri',
  'made',
  'parameter-new',
] as const
export type Place = (typeof places)[number]

const string = { type: 'string' } as const
const marked = { ...string, writeOnly: true } as const

/** `turns` counts how often something was tried, over all processes; `onStuck` is told when the step stands still. */
export function createTellingService(
  { of }: Canaries<Place>,
  turns: Map<string, number>,
  onStuck: () => void,
): Service {
  const isFirst = (what: string) => {
    const before = turns.get(what) ?? 0
    turns.set(what, before + 1)
    return before === 0
  }
  return defineService({
    id: 'telling',
    name: 'telling',
    description: 'It tells what it knows',
    bindable: true,
    plans: [{ id: 'plan', name: 'plan', description: 'The plan' }],
    parameters: {
      type: 'object',
      properties: { secret: marked, open: string, mode: string },
      additionalProperties: false,
    },
    bindParameters: { type: 'object', properties: { pin: { ...string, format: 'password' } } },
    callTimeout: '2s',
    async provision(ctx) {
      const { secret = '', mode } = ctx.parameters
      ctx.log.info(`asked with ${secret}`, { secret, again: new Error(`with ${secret}`) })
      ctx.describe(`making it of ${secret}`)
      const { root } = await ctx.step('make', () => {
        const made = sensitive(of.made)
        if (isFirst('make')) throw new Error(`${made.reveal()} was refused for ${secret}`, { cause: { sent: secret } })
        return { root: sensitive(of.step), plain: of['step-plain'] }
      })
      await ctx.saveState({ key: sensitive(of.state), plain: of['state-plain'], root })
      ctx.log.warn(`made ${root} of ${root.reveal()}`, { root, state: `key ${of.state}` })
      await ctx.step('stand still', async ({ signal }) => {
        if (mode !== 'crash' || !isFirst('stand still')) return
        onStuck()
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error(root.reveal()))))
      })
      if (isFirst('wait')) return ctx.wait(1, `waiting for ${root.reveal()}`)
      if (isFirst('throw')) throw Object.assign(new Error(`late: ${root.reveal()}`), { request: { key: of.state } })
      if (isFirst('text')) throw `a text with ${secret}`
      if (isFirst('left behind')) {
        void Promise.reject(new Error(`left behind ${root.reveal()}`))
        await ctx.step('go on', () => {})
      }
      if (mode === 'fail') throw new TerminalError(`no room for ${secret} and ${root.reveal()}`)
      return { message: `made with ${secret}`, state: { key: sensitive(of.state), plain: of['state-plain'] } }
    },
    async update(ctx) {
      const { key } = ctx.state as { key?: { reveal(): string } }
      await ctx.step('change', () => {
        throw new TerminalError(`cannot change ${ctx.parameters.secret} with ${key?.reveal()} after ${of.parameter}`)
      })
    },
    async bind(ctx) {
      const { pin = '' } = ctx.parameters as { pin?: string }
      const made = await ctx.step('grant', () => {
        const password = sensitive(of.credential)
        if (isFirst('grant')) throw new Error(`user u with ${password.reveal()} and ${pin} exists`)
        return { password }
      })
      ctx.log.error('granted', { made: `${made.password.reveal()} ${pin}` })
      return {
        message: `use ${made.password.reveal()}`,
        credentials: { password: made.password, uri: `postgres://u:${of.uri}@db.example/x` },
        state: { user: sensitive(of['binding-state']) },
      }
    },
    async unbind(ctx) {
      const { user } = ctx.bindingState as { user?: { reveal(): string } }
      // It has not asked for the state in this run: what is kept tells that it is secret.
      if (isFirst('unbind')) throw new Error(`cannot revoke ${of.credential} of ${user?.reveal()} by ${of.state}`)
    },
    async deprovision(ctx) {
      const { key } = ctx.state as { key?: { reveal(): string } }
      if (isFirst('deprovision')) throw new Error(`cannot delete ${key?.reveal()}`)
      ctx.log.info(`deleted ${key?.reveal()}`)
    },
    async observe({ state }) {
      const { key } = state as { key?: { reveal(): string } }
      return { ready: false, reason: 'Odd', message: `not well: ${key?.reveal()}` }
    },
    fetchInstance({ state, body, instance }) {
      const { key } = state as { key?: { reveal(): string } }
      if (isFirst('fetch')) throw new Error(`cannot read ${key?.reveal()} of ${instance.parameters.secret}`)
      return body
    },
  }) as Service
}

export const tellingHook: Hook = {
  name: 'telling',
  before: ctx => ctx.log.info(`before ${ctx.instance.parameters.secret}`),
  error(ctx, error) {
    ctx.log.error('heard', { error: error as Error })
    throw new Error(`the hook saw ${ctx.instance.parameters.secret}`)
  },
}
