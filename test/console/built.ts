import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The files that the broker serves. `npm test` builds them before the first test. */
export const builtConsole = join(import.meta.dirname, '..', '..', 'dist', 'console')

if (!existsSync(join(builtConsole, 'index.html')))
  throw new Error('The console has not been built: run "npm run build" first.')
