import { isJsonObject, type JsonObject } from '../../protocol/json.ts'
import { failure, messageOf } from '../cli-error.ts'
import { readPrivateFile, writePrivateFile } from '../private-file.ts'

export interface KnownBinding {
  readonly parameters: JsonObject
  /** As the driver keeps it. */
  readonly state: JsonObject
}

export interface KnownInstance {
  /** The name of its plan. */
  readonly plan: string
  readonly parameters: JsonObject
  readonly context: JsonObject
  readonly state: JsonObject
  readonly bindings: Readonly<Record<string, KnownBinding>>
}

/** What is kept between runs of one bundle, by instance. It may hold secrets: only its owner can read it. */
export interface RunFile {
  instance(id: string): KnownInstance | undefined
  /** `undefined` forgets it. */
  change(id: string, next: KnownInstance | undefined): Promise<void>
}

const note = 'May hold secrets: keep it out of version control.'
const next = 'Remove it to start again, or name another with --state-file.'

export async function openRunFile(file: string): Promise<RunFile> {
  const content = await readPrivateFile(file, isContent, next)
  const instances = new Map(Object.entries(content?.instances ?? {}))
  return {
    instance: id => instances.get(id),
    async change(id, changed) {
      if (changed === undefined) instances.delete(id)
      else instances.set(id, changed)
      try {
        await writePrivateFile(file, { note, instances: Object.fromEntries(instances) })
      } catch (error) {
        throw failure({ what: `${file} cannot be written`, why: messageOf(error), next })
      }
    },
  }
}

interface Content {
  readonly instances: Readonly<Record<string, KnownInstance>>
}

function isContent(value: unknown): value is Content {
  return isJsonObject(value) && isJsonObject(value.instances) && Object.values(value.instances).every(isKnown)
}

function isKnown(value: unknown): boolean {
  return (
    isJsonObject(value) &&
    typeof value.plan === 'string' &&
    [value.parameters, value.context, value.state, value.bindings].every(isJsonObject) &&
    Object.values(value.bindings ?? {}).every(
      binding => isJsonObject(binding) && isJsonObject(binding.parameters) && isJsonObject(binding.state),
    )
  )
}
