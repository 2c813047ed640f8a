import type { ActionSettings } from '../../author/define-service.ts'
import { type AuthorAction, type BundleAction, forEachAction } from '../../bundle/actions.ts'
import type { BundleSpec } from '../../bundle/spec.ts'
import type { BundleAsync } from '../../bundle/spec-shape.ts'
import type { AsyncMode } from '../../domain/intent.ts'
import type { SandboxLimits } from '../../sandbox.ts'

/** What an operation takes besides the bundle's own time: to fetch an image, to wait for its turn, to clean up. */
const roomMs = 5 * 60_000

const modes: Readonly<Record<BundleAsync, AsyncMode>> = { optional: 'auto', required: 'always', unsupported: 'never' }

/** The bundle says what it needs, the operator what it gets at most. */
export function limitsFor(
  { timeouts, resources }: BundleSpec,
  action: AuthorAction,
  most: SandboxLimits,
): SandboxLimits {
  // Most tests provision something first.
  const limited = action === 'test' ? 'provision' : action
  const { memory, cpu, output } = resources[limited] ?? {}
  return {
    time: timeouts[limited] ?? most.time,
    memory: lesser(memory, most.memory),
    cpu: lesser(cpu, most.cpu),
    output: lesser(output, most.output),
    processes: most.processes,
  }
}

export function actionSettings({ async, timeouts }: BundleSpec): Readonly<Record<BundleAction, ActionSettings>> {
  return forEachAction(action => {
    const timeout = timeouts[action]
    return { async: modes[async], timeout: timeout && timeout + roomMs }
  })
}

function lesser(wanted: number | undefined, most: number | undefined): number | undefined {
  return wanted === undefined || most === undefined ? (wanted ?? most) : Math.min(wanted, most)
}
