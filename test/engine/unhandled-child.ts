/**
 * A broker whose author leaves errors behind, in a process of its own: `unhandled-child.ts <what>`. Prints what happened
 * as JSON. With `foreign` the rejection is not the author's, and the process must end as it would without a broker.
 */
import { observeAll } from '../../src/observer/log.ts'
import { startTestBroker } from '../../src/testing/test-broker.ts'
import { ids, incomplete, serviceOf } from './world.ts'

const [what = ''] = process.argv.slice(2)
const events: object[] = []
let runs = 0
const toldTypes = new Set(['author.unhandled', 'action.failed', 'process.unhandled'])
const soon = () => new Promise(resolve => setTimeout(resolve, 5))

let isParked = false
let isEnded = false
let end = () => {}
const ended = new Promise<void>(resolve => {
  end = resolve
})

/** The promise is made in a callback, when nothing of the operation runs any more. */
function leaveBehindWhen(isTime: () => boolean): void {
  setTimeout(async () => (isTime() ? leaveBehind() : leaveBehindWhen(isTime)), 1)
}

async function leaveBehind(): Promise<void> {
  await Promise.resolve()
  throw new Error('left behind')
}

const service = serviceOf({
  async provision(ctx) {
    runs += 1
    if (runs > 1) return { state: { runs } }
    if (what === 'action') void leaveBehind()
    if (what === 'step') await ctx.step('create', () => void leaveBehind())
    if (what === 'floating step')
      void ctx.step('create', () => Promise.reject(new Error('no')), { retry: { attempts: 1 } })
    if (what === 'undefined') void Promise.reject(undefined)
    if (what === 'while it runs') {
      void leaveBehind()
      await new Promise(() => {})
    }
    if (what === 'too late') void ended.then(leaveBehind)
    if (what === 'callback too late') leaveBehindWhen(() => isEnded)
    if (what === 'callback while parked') {
      leaveBehindWhen(() => isParked)
      return ctx.wait('1s', 'in a while')
    }
    if (what === 'timer') setTimeout(() => void fail(), 1)
    if (what === 'timer') await new Promise(() => {})
    return {}
  },
})

function fail(): never {
  throw new Error('in a timer')
}

const broker = await startTestBroker({
  services: [service],
  random: () => 1,
  settings: { osb: { requireOrgAndSpace: false } },
  observer: observeAll((type, event) => {
    if (type === 'operation.parked') isParked = true
    if (!toldTypes.has(type)) return
    const { step, kind, error, action } = event as { step?: string; kind?: string; error: Error; action: string }
    const stack = error.stack?.includes('unhandled-child') ?? false
    const told = { type, action, step, kind, message: error.message, stack }
    events.push(told)
    if (kind === 'exception' || type === 'process.unhandled') process.stdout.write(`${JSON.stringify(told)}\n`)
  }),
})
if (what === 'foreign') void Promise.reject(new Error('not of an author'))
await broker.client.provision('i', ids, incomplete)
for (let turn = 0; turn < 20; turn += 1) {
  await soon()
  await broker.clock.advance(200)
}
isEnded = true
end()
await soon()
const { state } = (await broker.client.lastOperation('i')).body
process.stdout.write(`${JSON.stringify({ state, runs, events })}\n`)
await broker.stop()
