import type { RegistrySettings } from '../../registry/settings.ts'
import type { Mistake } from './mistake.ts'
import { findOrigin, type Origins, type Tree } from './tree.ts'

export interface ReadRegistries {
  readonly registries: readonly RegistrySettings[]
  readonly mistakes: readonly Mistake[]
  /** What is allowed and hardly meant, a line each. */
  readonly warnings: readonly string[]
}

/**
 * Takes the registries out of the tree: `registries`, or `registry` as the Automation Broker's file has it. The code that
 * reads them is loaded only where there are some.
 */
export async function takeRegistries(tree: Tree, origins: Origins, cwd: string): Promise<ReadRegistries> {
  const { registries, registry } = tree
  const key = registries === undefined ? 'registry' : 'registries'
  const origin = findOrigin(origins, [key])
  delete tree.registry
  delete tree.registries
  if (registries !== undefined && registry !== undefined)
    return {
      registries: [],
      mistakes: [{ where: findOrigin(origins, ['registry'])?.where, path: 'registry', problem: twice }],
      warnings: [],
    }
  const raw = registries ?? registry
  if (raw === undefined) return { registries: [], mistakes: [], warnings: [] }
  const { parseRegistrySettings } = await import('../../registry/parse-settings.ts')
  const { settings = [], problems } = parseRegistrySettings(raw, key, { folder: origin?.folder ?? cwd })
  const found = problems.map(({ severity, path, problem }) => {
    const whole = path === '' || path.startsWith('[') ? `${key}${path}` : `${key}.${path}`
    return { severity, mistake: { where: placeOf(origins, whole), path: whole, problem } }
  })
  return {
    registries: settings,
    mistakes: found.filter(({ severity }) => severity === 'error').map(({ mistake }) => mistake),
    warnings: found
      .filter(({ severity }) => severity === 'warning')
      .map(({ mistake: { where = '', path, problem } }) => `${where} ${path}: ${problem}`.trim()),
  }
}

const twice = 'stands beside "registries", which is the same; keep one'

/** Of the nearest part of the path that stands in the file. */
function placeOf(origins: Origins, path: string): string | undefined {
  for (let part = path; part !== ''; part = part.replace(/(^|\.)[^.[]*$|\[\d+\]$/, '')) {
    const origin = origins.get(part)
    if (origin !== undefined) return origin.where
  }
  return undefined
}
