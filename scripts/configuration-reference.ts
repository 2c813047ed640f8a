import { readFileSync, writeFileSync } from 'node:fs'
import { renderSettings } from './render-settings.ts'

/** Makes the tables of docs/reference/configuration.md from the settings. With `--check` it only says whether they are right. */
const file = new URL('../docs/reference/configuration.md', import.meta.url)
const page = readFileSync(file, 'utf8')
const made = renderSettings(page)
if (!process.argv.includes('--check')) writeFileSync(file, made)
else if (made !== page) {
  console.error('docs/reference/configuration.md is not what the settings say: run "npm run configuration:reference".')
  process.exitCode = 1
}
