import { readFileSync } from 'node:fs'

/** Of the package that runs: the same from `src` and from `dist`. Whoever bundles it into a file of theirs has none beside it. */
export function packageVersion(): string {
  try {
    const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
    return (JSON.parse(text) as { version: string }).version
  } catch {
    return 'unknown'
  }
}
