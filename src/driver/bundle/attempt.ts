import type { ActionContext } from '../../author/context.ts'
import type { AuthorAction } from '../../bundle/actions.ts'
import { sandboxLabels } from '../../domain/sandbox-labels.ts'
import type { Call } from '../../engine/call.ts'
import { TerminalError } from '../../engine/errors.ts'
import { ShownOutput } from '../../engine/shown-output.ts'
import type { Wait } from '../../engine/work.ts'
import {
  type Runtime,
  RuntimeUnavailableError,
  type SandboxInputs,
  type SandboxOrigin,
  type SandboxOutputs,
  SandboxRefusedError,
  type SandboxSpec,
  type SandboxStatus,
} from '../../sandbox.ts'
import { secretsIn } from '../../sensitive/secrets-in.ts'
import { askRuntime } from './ask-runtime.ts'
import { limitsFor } from './limits.ts'
import type { Bundle, BundleParts } from './parts.ts'
import { pickRuntime, placeOn, runtimeAt } from './pick-runtime.ts'
import { secretsInState } from './secrets.ts'
import type { SavedSandbox } from './state.ts'
import { judge, type SandboxVerdict } from './verdict.ts'
import { waitForSandbox } from './wait-for-sandbox.ts'

/** One action of one resource. */
export interface BundleTask<Result> {
  readonly ctx: ActionContext
  readonly action: AuthorAction
  readonly bindingId?: string
  /** What the ledger says now of the latest sandbox of the resource. */
  readonly saved: () => SavedSandbox | undefined
  /** The instance's, where the resource is a binding: the two must not run side by side. */
  readonly beside?: SavedSandbox
  readonly inputs: (sandbox: string) => SandboxInputs
  readonly origin: SandboxOrigin
  /** What is cut out of everything that people may read. */
  readonly secrets: readonly string[]
  /** What the action gives back; throws a TerminalError where the bundle has left too little, or too much. */
  readonly conclude: (outputs: SandboxOutputs) => Result
}

/** One sandbox of an operation: the first, or another one because the bundle asked to be run again. */
export interface Attempt {
  readonly bundle: Bundle
  readonly task: BundleTask<unknown>
  readonly number: number
  readonly name: string
}

/** What the ledger keeps of a sandbox that has ended, besides what operators may read. */
export interface EndedRun {
  readonly verdict: SandboxVerdict
  readonly outputs: SandboxOutputs
}

/** One call to a runtime. */
export const callSettings = { timeout: '30s' } as const
/** The longest that one attempt to fetch an image may take. */
export const pullTimeout = '15m'

/** How long after its place was chosen a sandbox may be started: what comes later could not be over in time. */
const startWithinMs = 5 * 60_000
/** What a sandbox may take to end after its time is over, and clocks may differ by. */
const graceMs = 2 * 60_000

const firstHoldMs = 10_000
const laterHoldMs = 1_000
const elsewhereMs = 5_000

/**
 * Starts the sandbox or attaches to it, waits for its end and collects what it left, each once. Undefined where its time to
 * start was over before the runtime answered, and nothing can start under its name any more.
 */
export async function runAttempt(attempt: Attempt): Promise<EndedRun | Wait | undefined> {
  const { bundle, task, number, name } = attempt
  const { parts } = bundle
  const { ctx } = task
  const before = task.saved()
  if (before?.name === name && before.ended !== undefined) return collect(attempt, undefined, { kind: 'absent' })
  const sandbox = await place(attempt, before)
  const runtime = runtimeAt(parts, sandbox)
  if (runtime === undefined) {
    const waiting = waitForUnreachable(parts, ctx, sandbox)
    if (waiting !== undefined) return waiting
    throw new TerminalError(
      `How the ${task.action} ended is not known: nothing was heard from the machine that ran it, and its time is over.`,
      { cause: new Error(`it ran on ${shownPlace(sandbox)}`) },
    )
  }
  let isNew = false
  const starting = () => {
    isNew = true
    return askRuntime(() => start(attempt, runtime, sandbox))
  }
  const started = await unlessRefused(ctx, () => ctx.step(`start ${number}`, starting, callSettings))
  if (!started) return undefined
  const waiting = { ctx, clock: parts.clock, runtime, name, secrets: task.secrets }
  const { status, progress } = await waitForSandbox(waiting, isNew ? firstHoldMs : laterHoldMs)
  if (status.kind === 'running') return ctx.wait('2s', progress ?? 'the bundle is at work')
  if (status.kind !== 'unknown') return collect(attempt, runtime, status)
  parts.observer['sandbox.unreachable']?.({
    sandbox: name,
    host: shownPlace(sandbox),
    operationId: ctx.operation.id,
    reason: status.reason,
  })
  return ctx.wait('5s', 'what runs the bundle does not answer; asking again')
}

/**
 * Waits for a sandbox that this process cannot reach. One that can may go on with it meanwhile, and when its time is over it
 * has ended. Undefined where it has.
 */
export function waitForUnreachable(parts: BundleParts, ctx: ActionContext, sandbox: SavedSandbox): Wait | undefined {
  const left = sandbox.ended === undefined ? sandbox.until - parts.storeNow() : 0
  if (left <= 0) return undefined
  return ctx.wait(Math.min(left, elsewhereMs), 'waiting for the machine that runs the bundle')
}

/** For the log: no platform reads where something runs. */
function shownPlace({ host, runtime }: SavedSandbox): string {
  return host ?? `the runtime ${runtime}`
}

/** Writes to the ledger where the sandbox will be, before it can be there: later operations look for it there. */
async function place({ bundle, task, number, name }: Attempt, before: SavedSandbox | undefined): Promise<SavedSandbox> {
  const { parts, spec } = bundle
  const { ctx, action } = task
  if (before?.name !== name) await fetchProgram(bundle, ctx, number)
  const placed = await ctx.step(`place ${number}`, async (): Promise<SavedSandbox> => {
    const runtime = await runtimeFor(bundle)
    const { time } = limitsFor(spec, action, parts.limits)
    const until = parts.storeNow() + startWithinMs + time + graceMs
    const round = ctx.operation.releases || undefined
    return { name, attempt: number, ...placeOn(runtime, parts.host), until, round }
  })
  if (before?.name !== name) await ctx.saveState({ sandbox: { ...placed } })
  return placed
}

/**
 * Before the sandbox is placed: a pull may take long, and a placed sandbox has to start soon. There is one step for each
 * machine, since what one has fetched another has not. Platforms may read the name of a step, so its output names the machine.
 */
async function fetchProgram(bundle: Bundle, ctx: ActionContext, number: number): Promise<void> {
  const runtime = await runtimeFor(bundle)
  const { parts } = bundle
  const { host } = placeOn(runtime, parts.host)
  const fetchHere = async ({ signal }: Call) => {
    const program = await parts.programFor(bundle)
    if (program.kind === 'image') ctx.describe('fetching the image of the bundle')
    await runtime.prepare(program, signal)
    return host
  }
  for (let machine = 1; ; machine += 1) {
    const name = machine === 1 ? `fetch ${number}` : `fetch ${number} on machine ${machine}`
    const fetching = (call: Call) => askRuntime(() => fetchHere(call), 'the bundle cannot be fetched now')
    const where = await ctx.step(name, fetching, { timeout: pullTimeout })
    if ((where ?? undefined) === host) return
  }
}

/** Where the runtime refuses the start there is no sandbox, so the ledger must not name one. */
async function unlessRefused(ctx: ActionContext, start: () => Promise<boolean>): Promise<boolean> {
  try {
    return await start()
  } catch (error) {
    if (error instanceof TerminalError && error.cause instanceof SandboxRefusedError)
      await ctx.saveState({ sandbox: null })
    throw error
  }
}

/** False if it is too late to start the sandbox, and it was never started. */
async function start({ bundle, task, name }: Attempt, runtime: Runtime, sandbox: SavedSandbox): Promise<boolean> {
  const { parts, spec } = bundle
  const { ctx, action, bindingId } = task
  const limits = limitsFor(spec, action, parts.limits)
  if (parts.storeNow() > sandbox.until - graceMs - limits.time) {
    const status = await runtime.status(name)
    if (status.kind === 'unknown') throw new RuntimeUnavailableError(status.reason)
    if (status.kind !== 'absent') return true
    await runtime.remove(name)
    return false
  }
  const wanted: SandboxSpec = {
    name,
    labels: {
      [sandboxLabels.broker]: parts.brokerLabel,
      [sandboxLabels.operation]: ctx.operation.id,
      [sandboxLabels.instance]: ctx.instance.id,
      ...(bindingId === undefined ? {} : { [sandboxLabels.binding]: bindingId }),
    },
    program: await parts.programFor(bundle),
    inputs: task.inputs(name),
    limits,
    network: parts.network,
    origin: task.origin,
  }
  await runtime.start(wanted)
  return true
}

/**
 * What the sandbox left, judged, and kept in the ledger. It is read twice where it holds credentials or state: those are cut
 * out of what people may read as well.
 */
function collect(
  { task, number, name }: Attempt,
  runtime: Runtime | undefined,
  status: Exclude<SandboxStatus, { readonly kind: 'running' | 'unknown' }>,
): Promise<EndedRun> {
  // Nobody knows how one ended that has no `exit`.
  const ended = (
    verdict: SandboxVerdict,
    outputs: SandboxOutputs,
    read: { readonly log: string; readonly exit?: number },
  ) => new ShownOutput({ verdict, outputs } satisfies EndedRun, { verdict, ...read })
  const collected = async () => {
    if (status.kind === 'absent' || runtime === undefined) {
      const outputs: SandboxOutputs = { problems: [] }
      const lost = { kind: 'lost', reason: 'somebody has removed its sandbox' } as const
      return ended(judge(lost, outputs), outputs, { log: '' })
    }
    const first = await runtime.collect(name, task.secrets)
    const { credentials, state = {}, bindingState = {} } = first.outputs
    const made = [...secretsIn(credentials), ...[state, bindingState].flatMap(secretsInState)]
    const { outputs, log } = made.length === 0 ? first : await runtime.collect(name, [...task.secrets, ...made])
    const exit = status.kind === 'exited' ? { exit: status.code } : {}
    return ended(judge(status, outputs), outputs, { log, ...exit })
  }
  const step = task.ctx.step(`collect ${number}`, (): Promise<unknown> => askRuntime(collected), callSettings)
  return step as Promise<EndedRun>
}

function runtimeFor({ parts, revision }: Bundle): Promise<Runtime> {
  return askRuntime(async () => pickRuntime(parts.runtimes, revision))
}
