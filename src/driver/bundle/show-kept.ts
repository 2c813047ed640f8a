import type { ActionContext } from '../../author/context.ts'
import { TerminalError } from '../../engine/errors.ts'
import type { KeptCopy } from '../../sandbox.ts'
import { askRuntime } from './ask-runtime.ts'
import { callSettings } from './attempt.ts'
import type { Bundle } from './parts.ts'

export type Kept = Pick<KeptCopy, 'id' | 'state' | 'credentials'>

/** Shows people what the ledger is about to keep, where a runtime does that. What cannot be shown fails nothing. */
export async function showKept(
  { parts, revision }: Bundle,
  ctx: ActionContext,
  action: string,
  all: readonly Kept[],
): Promise<void> {
  const runtime = parts.runtimes.find(({ showKept: shows }) => shows !== undefined)
  if (runtime === undefined || all.length === 0) return
  const bundle = revision.fullName
  const show = async () => {
    for (const kept of all) await runtime.showKept?.({ ...kept, bundle, action })
  }
  try {
    await ctx.step('show what is kept', () => askRuntime(show), { ...callSettings, retry: { attempts: 3 } })
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error
    parts.observer['bundle.copyOutdated']?.({ bundle, instanceId: ctx.instance.id, error })
  }
}
