import type { ActionContext } from '../../author/context.ts'
import type { BundleAction } from '../../bundle/actions.ts'
import type { SandboxInputs, SandboxOutputs } from '../../sandbox.ts'
import type { SavedSandbox } from './state.ts'

/** One action of one resource. */
export interface BundleTask<Result> {
  readonly ctx: ActionContext
  readonly action: BundleAction
  readonly bindingId?: string
  /** What the ledger says now of the latest sandbox of the resource. */
  readonly saved: () => SavedSandbox | undefined
  /** The instance's, where the resource is a binding: the two must not run side by side. */
  readonly beside?: SavedSandbox
  readonly inputs: () => SandboxInputs
  /** What is cut out of everything that people may read. */
  readonly secrets: readonly string[]
  /** What the action gives back; throws a TerminalError where the bundle has left too little, or too much. */
  readonly conclude: (outputs: SandboxOutputs) => Result
}
