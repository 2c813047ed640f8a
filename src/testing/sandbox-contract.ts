/**
 * What every runtime of sandboxes must do, as data: a test runner of any kind makes a subject for each case and runs it.
 *
 *     for (const { name, run } of sandboxContract) it(name, async () => { … await run(subject) … })
 */
import { inputCases } from './sandbox-contract/inputs.ts'
import { lifeCases } from './sandbox-contract/life.ts'
import { limitCases } from './sandbox-contract/limits.ts'
import { outputCases } from './sandbox-contract/outputs.ts'
import { removalCases } from './sandbox-contract/removal.ts'
import type { SandboxCase } from './sandbox-contract/subject.ts'

export type { SandboxCase, SandboxSubject } from './sandbox-contract/subject.ts'

export const sandboxContract: readonly SandboxCase[] = [
  ...inputCases,
  ...lifeCases,
  ...removalCases,
  ...limitCases,
  ...outputCases,
]
