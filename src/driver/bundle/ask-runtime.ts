import { PassingError, TerminalError } from '../../engine/errors.ts'
import { RuntimeUnavailableError, SandboxRefusedError } from '../../sandbox.ts'

/**
 * A call of a runtime, with failures that a platform may read. What a runtime says when it cannot be reached may name a
 * machine or a path: it becomes the cause, which only the log shows.
 */
export async function askRuntime<T>(
  call: () => Promise<T>,
  unavailable = 'what runs the bundle does not answer',
): Promise<T> {
  try {
    return await call()
  } catch (error) {
    // What was refused will be refused again.
    if (error instanceof SandboxRefusedError)
      throw new TerminalError(`The bundle cannot be run: ${error.message}.`, { cause: error })
    if (error instanceof RuntimeUnavailableError) throw new PassingError(unavailable, { cause: error })
    throw error
  }
}
