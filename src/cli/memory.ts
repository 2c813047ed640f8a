import { join } from 'node:path'
import { isJsonObject } from '../protocol/json.ts'
import { messageOf } from '../shape/thrown.ts'
import type { CliIo } from './io.ts'
import { readPrivateFile, writePrivateFile } from './private-file.ts'

/** What a later command needs to know about an instance. Never parameters, never credentials. */
export interface RememberedInstance {
  readonly service_id: string
  readonly plan_id: string
  /** The `operation` of the latest 202. */
  readonly operation?: string
  readonly bindings: Readonly<Record<string, { readonly operation?: string }>>
}

type Change = (known: RememberedInstance | undefined) => RememberedInstance | undefined

export const memoryFile = join('.purser', 'cli.json')

/** `.purser/cli.json` in the current folder: the instances this command made at one broker. */
export function createMemory(io: CliIo, brokerUrl: string) {
  const file = join(io.cwd, memoryFile)

  /** Replaces what is known; `undefined` forgets it. Only warns where the folder cannot be written. */
  async function change(instanceId: string, next: Change): Promise<void> {
    const content = await readMemory(file)
    const instances = instancesOf(content, brokerUrl)
    const known = instances.get(instanceId)
    const wanted = next(known)
    if (known === undefined && wanted === undefined) return
    if (wanted === undefined) instances.delete(instanceId)
    else instances.set(instanceId, wanted)
    const brokers = { ...content.brokers, [brokerUrl]: Object.fromEntries(instances) }
    try {
      await writePrivateFile(file, { version: 1, brokers })
    } catch (error) {
      const why = messageOf(error)
      io.stderr.write(`warning: could not remember instance ${instanceId} (${why}); later commands need flags\n`)
    }
  }

  return {
    change,
    async recall(instanceId: string): Promise<RememberedInstance | undefined> {
      return instancesOf(await readMemory(file), brokerUrl).get(instanceId)
    },
    /** The latest operation of an instance that is known, or of a binding of it. */
    rememberOperation: (operation: string | undefined, instanceId: string, bindingId?: string) =>
      change(instanceId, known => {
        if (known === undefined || bindingId === undefined) return known && { ...known, operation }
        return { ...known, bindings: { ...known.bindings, [bindingId]: { operation } } }
      }),
    forget: (instanceId: string, bindingId?: string) =>
      change(instanceId, known => {
        if (known === undefined || bindingId === undefined) return undefined
        const { [bindingId]: _, ...bindings } = known.bindings
        return { ...known, bindings }
      }),
  }
}

interface MemoryContent {
  readonly version: 1
  readonly brokers: Readonly<Record<string, Readonly<Record<string, RememberedInstance>>>>
}

function instancesOf(content: MemoryContent, brokerUrl: string): Map<string, RememberedInstance> {
  return new Map(Object.entries(content.brokers[brokerUrl] ?? {}))
}

async function readMemory(file: string): Promise<MemoryContent> {
  const next = 'Remove it; without it, give --service and --plan to commands on existing instances.'
  return (await readPrivateFile(file, isMemory, next)) ?? { version: 1, brokers: {} }
}

function isMemory(content: unknown): content is MemoryContent {
  if (!isJsonObject(content) || content.version !== 1 || !isJsonObject(content.brokers)) return false
  const brokers = Object.values(content.brokers)
  if (!brokers.every(isJsonObject)) return false
  const instances = brokers.flatMap(known => Object.values(known))
  return instances.every(instance => isJsonObject(instance) && isJsonObject(instance.bindings))
}
