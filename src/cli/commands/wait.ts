import { sleep } from '../../clock.ts'
import { CliError, wrongUsage } from '../cli-error.ts'
import { type CliCommand, createNameParser, parseTimeout } from '../command.ts'
import { interruptible } from '../io.ts'
import { refusal } from '../refusal.ts'
import { onBroker, type Session } from '../session.ts'

const pause = 1_000

export function defineCommand(program: CliCommand): void {
  program
    .command('wait')
    .argument(
      '<what>',
      'instances/<id> or operations/<id>',
      createNameParser('what is waited for', 'Give instances/<id>.'),
    )
    .description('wait until an instance or an operation is as you want it')
    .option('--for <condition>', 'condition=Ready, condition=Degraded or deleted; ended for an operation')
    .option('--timeout <duration>', 'longest time to wait, such as 90s or 10m (default: 1h)', parseTimeout)
    .connectionOptions()
    .examples(
      'purser wait instances/my-db --for=condition=Ready --timeout 5m',
      'purser wait operations/0197a7c2-7f5e-7cc0-93a1-55d2e1a2b3c4',
    )
    .action(onBroker(waitFor))
}

/** What there is now, and whether that is what was waited for. */
interface Look {
  readonly body: object
  readonly done: boolean
  /** It can no longer come about. */
  readonly failed?: string
}

async function waitFor(session: Session, what: string, flags: { readonly for?: string }): Promise<void> {
  const { kind, id, wish } = readWish(what, flags.for)
  const { io } = session
  const { timeout = 3_600_000 } = session.options
  const until = io.clock.now() + timeout
  const stopped = { what: `stopped waiting for ${what}`, why: 'interrupted', next: 'Repeat the command to go on.' }
  await interruptible(io, stopped, async signal => {
    for (;;) {
      const { body, done, failed } = await (kind === 'operations' ? lookAtOperation : lookAtInstance)(session, id, wish)
      if (done) return session.print(body, `${what} is ${wish}\n`)
      if (failed !== undefined)
        throw new CliError(5, {
          what: `${what} will not be ${wish}`,
          why: failed,
          next: `purser ${kind} show ${id} says more.`,
        })
      if (io.clock.now() >= until)
        throw new CliError(3, {
          what: `${what} is not ${wish}`,
          why: 'the time of --timeout is over',
          next: `Wait longer, or look: purser ${kind} show ${id}`,
        })
      await sleep(io.clock, pause, signal)
      signal.throwIfAborted()
    }
  })
}

function readWish(what: string, given: string | undefined) {
  const [kind = '', ...rest] = what.split('/')
  const id = rest.join('/')
  const wishes = kind === 'operations' ? ['ended'] : ['condition=Ready', 'condition=Degraded', 'deleted']
  const wish = given ?? wishes[0] ?? ''
  if ((kind === 'operations' || kind === 'instances') && id !== '' && wishes.includes(wish)) return { kind, id, wish }
  throw wrongUsage({
    what: `cannot wait for ${what} to be ${wish}`,
    why: 'instances have conditions, operations end',
    next: 'Write instances/<id> with --for=condition=Ready or --for=deleted, or operations/<id> with --for=ended.',
  })
}

async function lookAtOperation(session: Session, id: string): Promise<Look> {
  const response = await session.admin.operation(id)
  if (response.status !== 200) throw refusal(`could not read the operation ${id}`, response)
  const { state, description } = response.body
  const isOver = state !== 'queued' && state !== 'running'
  const failed = isOver && state !== 'succeeded' ? `it is ${state}: ${description ?? 'no reason was given'}` : undefined
  return { body: response.body, done: state === 'succeeded', failed }
}

async function lookAtInstance(session: Session, id: string, wish: string): Promise<Look> {
  const response = await session.admin.instance(id)
  const isGone = response.status === 404
  if (response.status !== 200 && !isGone) throw refusal(`could not read the instance ${id}`, response)
  const { phase, conditions = [], usable } = response.body
  if (wish === 'deleted') return { body: response.body, done: isGone || phase === 'deleted' }
  if (phase === 'deleted') return { body: response.body, done: false, failed: 'it is deleted' }
  const seen = conditions.find(({ type }) => `condition=${type}` === wish)?.status
  // One that nobody has looked at is as its last operation left it.
  const unseen = wish === 'condition=Ready' && phase === 'ready' && usable
  const failed = phase === 'failed' && wish === 'condition=Ready' ? 'its creation failed' : undefined
  return { body: response.body, done: seen ?? unseen, failed }
}
