import { existsSync } from 'node:fs'
import { access, constants } from 'node:fs/promises'
import { dirname } from 'node:path'
import { chooseRuntimes } from '../../running/bundles/runtimes.ts'
import { messageOf } from '../../shape/thrown.ts'
import { checkCluster } from './cluster.ts'
import { checkContainers } from './containers.ts'
import type { Check, Finding } from './finding.ts'
import { checkProcesses } from './processes.ts'

/** What runs bundles is there; where no bundle can come from anywhere, nothing is needed. */
export const checkRuntimes: Check = async examined => {
  const { config, env } = examined
  if (config.registries.length === 0 && !config.osb.apbRoutes) return []
  const { types, socket } = chooseRuntimes(config, env)
  const looks = {
    process: () => checkProcesses(config),
    container: () => checkContainers(socket, config),
    kubernetes: () => checkCluster(examined),
  }
  const found = await Promise.all([checkFolder(config.bundles.folder), ...types.map(({ name }) => looks[name]())])
  return found.flat()
}

async function checkFolder(folder: string): Promise<readonly Finding[]> {
  const about = 'bundles folder'
  const expected = `${folder} can be written, or made`
  let nearest = folder
  while (!existsSync(nearest)) nearest = dirname(nearest)
  try {
    await access(nearest, constants.W_OK | constants.X_OK)
    return [{ state: 'ok', about, expected, found: nearest === folder ? 'it can be written' : 'it will be made' }]
  } catch (error) {
    const remedy = "Give the folder to the broker's user, or name another one in bundles.folder."
    return [{ state: 'wrong', about, expected, found: messageOf(error), remedy }]
  }
}
