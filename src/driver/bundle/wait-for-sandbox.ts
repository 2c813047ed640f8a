import type { ActionContext } from '../../author/context.ts'
import type { Clock } from '../../clock.ts'
import { callWithDeadline } from '../../engine/call.ts'
import { fromSignal } from '../../engine/lazy-abort.ts'
import type { Runtime, SandboxStatus } from '../../sandbox.ts'
import { messageOf } from '../../shape/thrown.ts'

export interface SandboxWait {
  readonly ctx: ActionContext
  readonly clock: Clock
  readonly runtime: Runtime
  readonly name: string
  readonly secrets: readonly string[]
}

/** Progress is asked for this often while a worker is held. */
const sliceMs = 1_000
/** A runtime that does not answer for so long after the time that it was given is one that does not answer. */
const patienceMs = 20_000

/** Holds the worker until the sandbox has ended, or for `holdMs`; what it says about its progress is shown meanwhile. */
export async function waitForSandbox(
  waiting: SandboxWait,
  holdMs: number,
): Promise<{ readonly status: SandboxStatus; readonly progress?: string }> {
  const { ctx, clock, runtime, name, secrets } = waiting
  const end = clock.now() + holdMs
  let shown: string | undefined
  for (;;) {
    const status = await waitFor(waiting, Math.min(sliceMs, end - clock.now()))
    ctx.signal.throwIfAborted()
    if (status.kind !== 'running') return { status }
    // Nothing depends on it.
    const progress = await answered(waiting, patienceMs, () => runtime.progress(name, secrets)).catch(() => undefined)
    if (clock.now() >= end) return { status, progress }
    if (progress !== undefined && progress !== shown) ctx.describe(progress)
    shown = progress
  }
}

async function waitFor(waiting: SandboxWait, ms: number): Promise<SandboxStatus> {
  const { clock, runtime, name } = waiting
  const enough = new AbortController()
  const cancel = clock.after(Math.max(0, ms), () => enough.abort())
  try {
    return await answered(waiting, ms + patienceMs, signal =>
      runtime.wait(name, AbortSignal.any([signal, enough.signal])),
    )
  } catch (error) {
    return { kind: 'unknown', reason: messageOf(error) }
  } finally {
    cancel()
  }
}

function answered<T>(
  { ctx, clock }: SandboxWait,
  timeout: number,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const call = { fence: ctx.operation.fence, key: ctx.operation.id }
  return callWithDeadline(({ signal }) => ask(signal), call, { timeout, ending: fromSignal(ctx.signal), clock })
}
