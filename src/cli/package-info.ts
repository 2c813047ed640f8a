import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of the package that runs: the same from `src/cli` and from `dist/cli`. */
export function packageRoot(): string {
  return fileURLToPath(new URL('../..', import.meta.url))
}

/** What people type to run this command again: the installed one, or the one of a clone. */
export function commandName(cwd: string): string {
  const root = packageRoot()
  if (root.includes(`${sep}node_modules${sep}`)) return 'npx purser'
  return `node ${relative(cwd, join(root, 'bin', 'purser.js'))}`
}
