/** Makes scripts of child processes one file each, which plain Node runs. */
import { createRequire } from 'node:module'

interface Bundler {
  build(options: Readonly<Record<string, unknown>>): Promise<unknown>
}

/** `more` names the sources, and the folder that the files go to. */
export function bundleScripts(more: Readonly<Record<string, unknown>>): Promise<unknown> {
  return loadBundler().build({
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    logLevel: 'error',
    ...more,
  })
}

/** The one that tsx brings along. */
function loadBundler(): Bundler {
  const tsx = createRequire(import.meta.url).resolve('tsx')
  return createRequire(tsx)('esbuild')
}
