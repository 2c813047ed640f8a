import { readFileSync, writeFileSync } from 'node:fs'
import { renderRegistrySettings, renderSettings } from './render-settings.ts'

/** Makes the tables of settings in docs/reference. With `--check` it only says whether they are right. */
for (const [name, render] of [
  ['docs/reference/configuration.md', renderSettings],
  ['docs/reference/registries.md', renderRegistrySettings],
] as const) {
  const file = new URL(`../${name}`, import.meta.url)
  const page = readFileSync(file, 'utf8')
  const made = render(page)
  if (!process.argv.includes('--check')) writeFileSync(file, made)
  else if (made !== page) {
    console.error(`${name} is not what the settings say: run "npm run configuration:reference".`)
    process.exitCode = 1
  }
}
