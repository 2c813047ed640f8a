/** A program: `supervisor <folder of a sandbox>`. Its one line of output says that the sandbox has an owner. */
import { closeSync, writeSync } from 'node:fs'
import { supervise } from './supervise.ts'

await supervise(process.argv[2] ?? '', () => {
  try {
    writeSync(1, 'ready\n')
    closeSync(1)
  } catch {
    // Whoever started it is gone; the sandbox goes on.
  }
})
