import { existsSync } from 'node:fs'
import { extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { BrokerDefinition } from '../author/broker-definition.ts'
import { StartError } from '../running/start-error.ts'
import { messageOf } from '../shape/thrown.ts'

/** The broker module of a folder, where nobody names one. */
export function findBrokerModule(folder: string): string | undefined {
  return ['broker.mjs', 'broker.js', 'broker.ts'].map(name => join(folder, name)).find(existsSync)
}

/** A module whose default export is what `defineBroker` returned. */
export async function loadBrokerModule(path: string): Promise<BrokerDefinition> {
  if (extname(path) === '.ts' && !canRunTypeScript())
    throw new StartError(
      `This Node.js (${process.version}) cannot run ${path}.`,
      'It is TypeScript, which Node.js runs from version 22.18 on.',
      'Use a newer Node.js, start it with "node --import tsx", or name the compiled .js file.',
    )
  let loaded: Record<string, unknown>
  try {
    loaded = await import(pathToFileURL(path).href)
  } catch (cause) {
    throw new StartError(
      `The broker module ${path} could not be loaded.`,
      messageOf(cause),
      'Correct the module, or name another one.',
      cause,
    )
  }
  const definition = loaded.default
  if (!isDefinition(definition))
    throw new StartError(
      `${path} is not a broker module.`,
      loaded.default === undefined ? 'It has no default export.' : 'Its default export did not come from defineBroker.',
      'Write "export default defineBroker({ services: [...] })".',
    )
  return definition
}

/** By shape and not by class: the module may have its own copy of this package. */
function isDefinition(value: unknown): value is BrokerDefinition {
  return typeof value === 'object' && value !== null && 'services' in value && Array.isArray(value.services)
}

/** Node's own type stripping, or a loader such as tsx. */
function canRunTypeScript(): boolean {
  const features = process.features as { readonly typescript?: string | false }
  return Boolean(features.typescript) || process.execArgv.some(argument => argument.includes('tsx'))
}
