import type { Operation, Step } from '../domain/operation.ts'
import { isJsonObject } from '../protocol/json.ts'
import type { Reads } from '../reads.ts'
import { findOperation } from './find-operation.ts'

/** What one run of a bundle printed last, without secrets. */
export interface RunLog {
  /** The step that kept it, which numbers the runs of an operation. */
  readonly name: string
  readonly exit?: number
  /** What its end meant: `succeeded`, `failed`, `not-implemented`, `try-again`. */
  readonly verdict?: string
  readonly message?: string
  readonly log: string
}

/** The bundle runs of an operation, oldest first. Empty if it has run no bundle, or if none has ended yet. */
export async function readLog(
  store: Pick<Reads, 'operation' | 'steps'>,
  operationId: string,
): Promise<{ readonly operation: Operation; readonly runs: readonly RunLog[] }> {
  const operation = await findOperation(store, operationId)
  return { operation, runs: (await store.steps(operationId)).flatMap(step => toRunLog(step) ?? []) }
}

/** Of what a bundle left, credentials and state included, only this is for operators. Older releases kept it in the output. */
function toRunLog({ name, output, shown }: Step): RunLog | undefined {
  const run = shown ?? output
  if (!/\bcollect \d+$/.test(name) || !isJsonObject(run) || typeof run.log !== 'string') return undefined
  const { log, exit, verdict } = run
  const { kind, message } = isJsonObject(verdict) ? verdict : {}
  return {
    name,
    exit: typeof exit === 'number' ? exit : undefined,
    verdict: typeof kind === 'string' ? kind : undefined,
    message: typeof message === 'string' ? message : undefined,
    log,
  }
}
