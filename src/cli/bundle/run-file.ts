import { readFile, rename, writeFile } from 'node:fs/promises'
import { isJsonObject, type JsonObject } from '../../protocol/json.ts'
import { failure, messageOf } from '../cli-error.ts'

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

export async function openRunFile(file: string): Promise<RunFile> {
  const instances = new Map(Object.entries(await readInstances(file)))
  return {
    instance: id => instances.get(id),
    async change(id, next) {
      if (next === undefined) instances.delete(id)
      else instances.set(id, next)
      const content = {
        note: 'May hold secrets: keep it out of version control.',
        instances: Object.fromEntries(instances),
      }
      const draft = `${file}.${process.pid}`
      try {
        await writeFile(draft, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 })
        await rename(draft, file)
      } catch (error) {
        throw unusable(file, 'cannot be written', messageOf(error))
      }
    },
  }
}

async function readInstances(file: string): Promise<Readonly<Record<string, KnownInstance>>> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {}
    throw unusable(file, 'cannot be read', messageOf(error))
  }
  try {
    const content: unknown = JSON.parse(text)
    if (isJsonObject(content) && isJsonObject(content.instances) && Object.values(content.instances).every(isKnown))
      return content.instances as unknown as Readonly<Record<string, KnownInstance>>
  } catch {
    // Reported below.
  }
  throw unusable(file, 'cannot be read', 'its content was not written by this version of purser')
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

function unusable(file: string, what: string, why: string) {
  return failure({ what: `${file} ${what}`, why, next: 'Remove it to start again, or name another with --state-file.' })
}
