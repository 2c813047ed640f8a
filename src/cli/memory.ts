import { join } from 'node:path'
import { isJsonObject } from '../protocol/json.ts'
import { messageOf } from './cli-error.ts'
import type { CliIo } from './io.ts'
import { readPrivateFile, writePrivateFile } from './private-file.ts'

/** What a later command needs to know about an instance. Never parameters, never credentials. */
export interface RememberedInstance {
  readonly service_id: string
  readonly plan_id: string
  /** The `operation` of the latest 202. */
  readonly operation?: string | undefined
  readonly bindings: Readonly<Record<string, RememberedBinding>>
}

interface RememberedBinding {
  readonly operation?: string | undefined
}

/** `.purser/cli.json` in the current folder: the instances this command made at one broker. */
export interface Memory {
  recall(instanceId: string): Promise<RememberedInstance | undefined>
  /** Replaces what is known; `undefined` forgets it. Only warns where the folder cannot be written. */
  change(
    instanceId: string,
    next: (known: RememberedInstance | undefined) => RememberedInstance | undefined,
  ): Promise<void>
  rememberBinding(instanceId: string, bindingId: string, operation: string | undefined): Promise<void>
  forgetBinding(instanceId: string, bindingId: string): Promise<void>
}

export const memoryFile = join('.purser', 'cli.json')

export function createMemory(io: CliIo, brokerUrl: string): Memory {
  const file = join(io.cwd, memoryFile)
  async function change(
    instanceId: string,
    next: (known: RememberedInstance | undefined) => RememberedInstance | undefined,
  ): Promise<void> {
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
    async recall(instanceId) {
      return instancesOf(await readMemory(file), brokerUrl).get(instanceId)
    },
    change,
    rememberBinding(instanceId, bindingId, operation) {
      return change(
        instanceId,
        known => known && { ...known, bindings: { ...known.bindings, [bindingId]: { operation } } },
      )
    },
    forgetBinding(instanceId, bindingId) {
      return change(instanceId, known => {
        if (known === undefined) return undefined
        const { [bindingId]: _, ...bindings } = known.bindings
        return { ...known, bindings }
      })
    },
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
  return (
    isJsonObject(content) &&
    content.version === 1 &&
    isJsonObject(content.brokers) &&
    Object.values(content.brokers).every(
      instances =>
        isJsonObject(instances) &&
        Object.values(instances).every(instance => isJsonObject(instance) && isJsonObject(instance.bindings)),
    )
  )
}
