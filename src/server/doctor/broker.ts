import { resolve } from 'node:path'
import { count } from '../../shape/count.ts'
import { messageOf } from '../../shape/thrown.ts'
import { findBrokerModule } from '../load-broker.ts'
import type { Check, Finding } from './finding.ts'

/** There is something to serve, and its catalog can be read. The module is not run for it. */
export const checkBroker: Check = async ({ config, env, cwd }) => {
  const { broker, registries, osb, catalog } = config
  const module = broker ?? findBrokerModule(cwd)
  const expected = 'a broker module, or registries'
  const found: Finding =
    module !== undefined
      ? { state: 'ok', about: 'broker', expected, found: resolve(cwd, module) }
      : registries.length > 0 || osb.apbRoutes
        ? { state: 'ok', about: 'broker', expected, found: 'what registries and authors offer' }
        : { state: 'wrong', about: 'broker', expected, found: `nothing in ${cwd}`, remedy }
  return [found, ...(catalog === undefined ? [] : [await judgeCatalog(catalog, env)])]
}

const remedy = 'Name a module as broker in purser.yaml, add registries, or run purser init for a new project.'

async function judgeCatalog(file: string, env: Parameters<Check>[0]['env']): Promise<Finding> {
  const { loadCatalogFile } = await import('../../catalog/load-yaml.ts')
  const about = 'catalog'
  const expected = `${file} is a catalog`
  try {
    const { offerings } = await loadCatalogFile(file, env)
    return { state: 'ok', about, expected, found: count(offerings.length, 'service') }
  } catch (error) {
    return { state: 'wrong', about, expected, found: messageOf(error), remedy: 'Correct the file as it says.' }
  }
}
