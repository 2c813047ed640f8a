import { defineBroker, defineService } from 'purser'

const greetings = new Map()

const greeter = defineService({
  id: 'com.example.greeter',
  name: 'greeter',
  description: 'Greets whoever asks',
  bindable: true,
  plans: [{ id: 'com.example.greeter.free', name: 'free', description: 'One greeting', free: true }],
  parameters: {
    type: 'object',
    properties: { greeting: { type: 'string', default: 'Hello' } },
    additionalProperties: false,
  },
  async provision(ctx) {
    await ctx.step('remember greeting', () => void greetings.set(ctx.instance.id, ctx.parameters.greeting))
    return { state: { greeting: ctx.parameters.greeting } }
  },
  bind: async ctx => ({ credentials: { text: `${ctx.state.greeting}, ${ctx.binding.id}!` } }),
  unbind: async () => {},
  deprovision: ctx => ctx.step('forget greeting', () => void greetings.delete(ctx.instance.id)),
})

export default defineBroker({ services: [greeter] })
