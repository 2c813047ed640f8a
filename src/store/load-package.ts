import { codeOf, messageOf } from '../shape/thrown.ts'
import { StoreOpenError } from '../store.ts'

/**
 * Loads a library that applications install themselves. Undefined where it is not installed; StoreOpenError where it is and
 * cannot be loaded: a native part that was built for another Node or system, or one of its own packages that is missing.
 */
export async function loadPackage<Library>(
  name: string,
  load: () => Promise<unknown> = () => import(/* @vite-ignore */ name),
): Promise<Library | undefined> {
  try {
    return (await load()) as Library
  } catch (error) {
    if (missingPackage(error) === name) return undefined
    const [reason] = messageOf(error).split('\n')
    throw new StoreOpenError(
      'broken-driver',
      `the package ${name} is installed and cannot be loaded (${reason}): ` +
        `install it again with this Node (${process.version}), for example with "npm rebuild ${name}"`,
      error,
    )
  }
}

/** The package that was looked for and is not there. */
function missingPackage(error: unknown): string | undefined {
  if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') return undefined
  return /^Cannot find package '([^']+)'/.exec(messageOf(error))?.[1]
}
