import { existsSync } from 'node:fs'
import { findRegistryType } from '../../registry/types.ts'
import { checkPassable, nobody } from '../../running/bundles/runtimes.ts'
import { StartError } from '../../running/start-error.ts'
import { findContainment } from '../../sandbox/process/containment.ts'
import type { Config } from '../config.ts'
import type { Finding } from './finding.ts'

/** What this machine lets bundles in folders be kept in. Where no registry has folders, it is only good to know. */
export async function checkProcesses({ bundles, registries }: Config): Promise<readonly Finding[]> {
  const hasFolders = registries.some(({ type }) => findRegistryType(type)?.offers === 'folder')
  const why = await findObstacle(bundles)
  const about = 'runtime process'
  const expected = 'bundles in folders can run, apart from the broker'
  if (why === undefined) return [{ state: 'ok', about, expected, found: 'they can' }]
  return [{ state: hasFolders || bundles.runtime === 'process' ? 'wrong' : 'warning', about, expected, ...why }]
}

async function findObstacle(bundles: Config['bundles']): Promise<Pick<Finding, 'found' | 'remedy'> | undefined> {
  const { network, hides } = await findContainment()
  const isRoot = process.getuid?.() === 0
  if (!isRoot && bundles.user !== undefined)
    return { found: 'bundles.user is set, and the broker is not root', remedy: 'Leave bundles.user out.' }
  if (!isRoot && !hides && !bundles.exposeFiles)
    return {
      found: "this machine cannot hide the broker's files from them",
      remedy: 'Run them in containers (bundles.runtime: container), the broker as root, or set bundles.exposeFiles.',
    }
  if (bundles.network === 'none' && !network)
    return {
      found: 'this machine cannot keep them off the network',
      remedy: 'Run them in containers (bundles.runtime: container), or set bundles.network: allowed.',
    }
  if (!isRoot || !existsSync(bundles.folder)) return undefined
  try {
    await checkPassable(bundles.folder, bundles.user ?? nobody)
    return undefined
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    return { found: error.why, remedy: error.next }
  }
}
