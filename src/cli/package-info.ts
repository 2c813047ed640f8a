import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The folder of the package that runs: the same from `src/cli` and from `dist/cli`. */
export function packageRoot(): string {
  return fileURLToPath(new URL('../..', import.meta.url))
}

export function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
