import { json, text } from '../../shape/fields.ts'
import { fromCode } from '../../shape/place.ts'
import { read } from '../../shape/read.ts'
import { map, object, type Read } from '../../shape/shape.ts'
import { messageOf } from '../../shape/thrown.ts'
import { failure } from '../cli-error.ts'
import { readPrivateFile, writePrivateFile } from '../private-file.ts'

/** `plan` is the name of the instance's plan; `state` is as the driver keeps it. */
const instance = object({
  plan: text(),
  parameters: json(),
  context: json(),
  state: json(),
  bindings: map(object({ parameters: json(), state: json() })),
})
const content = object({ instances: map(instance) }, { unknown: 'ignore' })

export type KnownInstance = Read<typeof instance>

export type RunFile = Awaited<ReturnType<typeof openRunFile>>

const note = 'May hold secrets: keep it out of version control.'
const next = 'Remove it to start again, or name another with --state-file.'

/** What is kept between runs of one bundle, by instance. It may hold secrets: only its owner can read it. */
export async function openRunFile(file: string) {
  const known = await readPrivateFile(file, isContent, next)
  const instances = new Map(Object.entries(known?.instances ?? {}))
  return {
    instance: (id: string) => instances.get(id),
    /** `undefined` forgets it. */
    async change(id: string, changed: KnownInstance | undefined): Promise<void> {
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

function isContent(value: unknown): value is Read<typeof content> {
  return read(content, fromCode(value)).ok
}
