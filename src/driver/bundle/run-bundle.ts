import { createHash } from 'node:crypto'
import { pauseAfter } from '../../domain/retry.ts'
import { ExhaustedError, TerminalError } from '../../engine/errors.ts'
import { isWait, type Wait } from '../../engine/work.ts'
import { askRuntime } from './ask-runtime.ts'
import {
  type Attempt,
  type BundleTask,
  callSettings,
  type EndedRun,
  runAttempt,
  waitForUnreachable,
} from './attempt.ts'
import type { Bundle } from './parts.ts'
import { runtimeAt } from './pick-runtime.ts'
import type { SavedSandbox } from './state.ts'

const backOff = { initial: 1_000, max: 5 * 60_000 }
/** A sandbox that cannot be removed now is removed later with the unused ones: the operation ends all the same. */
const removal = { ...callSettings, retry: { attempts: 5 } }

/**
 * Runs the bundle's action once, whatever happens to this process: the name of its sandbox is in the ledger before it
 * starts, and starting means attaching where it runs already. Only a bundle that asks for it is run again.
 */
export async function runBundle<Result>(bundle: Bundle, task: BundleTask<Result>): Promise<Result | Wait> {
  const waiting = await removeLeftovers(bundle, task)
  if (waiting !== undefined) return waiting
  for (let number = firstNumber(task); ; number += 1) {
    const attempt: Attempt = { bundle, task, number, name: sandboxName(task.ctx.operation.id, task.bindingId, number) }
    const collected = await runAttempt(attempt)
    if (isWait(collected)) return collected
    if (collected === undefined) continue
    if (collected.verdict.kind !== 'try-again') return finish(attempt, task, collected)
    const later = await waitForNext(attempt, collected.verdict.message)
    if (later !== undefined) return later
  }
}

/** Removes the sandboxes of earlier operations. One that this process cannot reach is waited for until its time is over. */
async function removeLeftovers({ parts }: Bundle, task: BundleTask<unknown>): Promise<Wait | undefined> {
  const { ctx, beside } = task
  const left: readonly (readonly [string, SavedSandbox | undefined])[] = [
    ['remove leftover', task.saved()],
    // One that failed is kept for the instance's next action.
    ['remove leftover of the instance', beside?.ended === undefined ? beside : undefined],
  ]
  for (const [step, sandbox] of left) {
    if (sandbox === undefined || belongsTo(ctx.operation.id, sandbox.name)) continue
    const runtime = runtimeAt(parts, sandbox)
    if (runtime !== undefined) await ctx.step(step, () => askRuntime(() => runtime.remove(sandbox.name)), callSettings)
    else {
      const waiting = waitForUnreachable(parts, ctx, sandbox)
      if (waiting !== undefined) return waiting
    }
  }
  return undefined
}

/** The name of an operation's nth sandbox. A deprovision may run one for each binding as well, which names it too. */
function sandboxName(operationId: string, bindingId: string | undefined, attempt: number): string {
  const whose = bindingId === undefined ? '' : `${createHash('sha256').update(bindingId).digest('hex').slice(0, 12)}-`
  return `${prefixOf(operationId)}${whose}${attempt}`
}

function belongsTo(operationId: string, name: string): boolean {
  return name.startsWith(prefixOf(operationId))
}

function prefixOf(operationId: string): string {
  return `o-${operationId}-`
}

/** Begins with the attempt that the ledger knows last; after one that failed, and a release since, with the next. */
function firstNumber({ ctx, saved }: BundleTask<unknown>): number {
  const own = saved()
  if (own === undefined || !belongsTo(ctx.operation.id, own.name)) return 1
  const isReleased = own.ended === 'failed' && (own.round ?? 0) < ctx.operation.releases
  return own.ended === 'again' || isReleased ? own.attempt + 1 : own.attempt
}

async function waitForNext(attempt: Attempt, message: string): Promise<Wait | undefined> {
  const { bundle, task, number } = attempt
  const { ctx } = task
  const now = bundle.parts.storeNow
  await remove(attempt)
  const due = await ctx.step(`again ${number}`, () => now() + pauseAfter(number, backOff))
  await markEnded(task, 'again')
  return due > now() ? ctx.wait(due - now(), message) : undefined
}

async function finish<Result>(attempt: Attempt, task: BundleTask<Result>, collected: EndedRun): Promise<Result> {
  const { parts } = attempt.bundle
  const result = conclude(task, collected)
  if (result instanceof TerminalError) {
    if (!parts.keepOnError) await remove(attempt)
    await markEnded(task, 'failed')
    throw result
  }
  await remove(attempt)
  return result.value
}

function conclude<Result>(
  { action, conclude }: BundleTask<Result>,
  { verdict, outputs }: EndedRun,
): { readonly value: Result } | TerminalError {
  // A bundle is run once, so one failure uses up what it has.
  if (verdict.kind === 'failed') return new ExhaustedError(verdict.message)
  const missing = verdict.kind === 'not-implemented'
  // A bundle may leave it to its provision to make credentials.
  if (missing && action !== 'bind' && action !== 'unbind')
    return new TerminalError(`The bundle has no ${action}.`, action === 'update' ? { updateRepeatable: false } : {})
  try {
    return { value: conclude(missing ? { problems: [] } : outputs) }
  } catch (error) {
    if (error instanceof TerminalError) return error
    throw error
  }
}

/** Tells whoever goes on with this operation, or comes after it, that it need not wait for that sandbox. */
async function markEnded({ ctx, saved }: BundleTask<unknown>, ended: 'failed' | 'again'): Promise<void> {
  const sandbox = saved()
  if (sandbox !== undefined && sandbox.ended !== ended) await ctx.saveState({ sandbox: { ...sandbox, ended } })
}

async function remove({ bundle, task, number, name }: Attempt): Promise<void> {
  const { parts } = bundle
  const saved = task.saved()
  const runtime = saved && runtimeAt(parts, saved)
  if (runtime === undefined) return
  try {
    await task.ctx.step(`remove ${number}`, () => askRuntime(() => runtime.remove(name)), removal)
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error
    parts.observer['sandbox.removalFailed']?.({
      sandbox: name,
      runtime: runtime.type,
      operationId: task.ctx.operation.id,
      error,
    })
  }
}
