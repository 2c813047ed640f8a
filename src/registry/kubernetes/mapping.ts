import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readSource } from '../../bundle/source.ts'
import { type Expression, ExpressionError, loadExpressions } from '../../expression/expression.ts'
import type { KubernetesObject } from '../../kubernetes/objects.ts'
import { isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts'
import { explain } from '../../shape/mistake.ts'
import type { BundleReading } from '../answer.ts'
import { digestOf } from '../oci/digest.ts'
import { RegistryError } from '../registry-error.ts'
import { imageTag } from '../settings.ts'

/** What of a spec may come from a resource. `values` are those of its manifests, `image` is what is run where it has none. */
export const mappedKeys = [
  'when',
  'name',
  'description',
  'tags',
  'metadata',
  'plans',
  'bundle_version',
  'values',
  'image',
]

interface MappingSettings {
  /** A file, or the folder of one. */
  readonly bundle: string
  readonly map: Readonly<Record<string, string>>
}

/** Makes a spec of a resource. One that it cannot be made of is there all the same: what was known of it stays. */
export type Mapping = (resource: KubernetesObject, name: string) => BundleReading

export async function loadMapping({ bundle, map }: MappingSettings): Promise<Mapping> {
  const base = await readBase(bundle)
  const compile = await loadExpressions(['object'])
  const expressions = new Map(
    Object.entries(map).map(([key, text]): [string, Expression] => {
      try {
        return [key, compile(text)]
      } catch (error) {
        throw error instanceof ExpressionError ? new RegistryError(`map.${key}: ${error.message}; correct it`) : error
      }
    }),
  )
  return (resource, name) => {
    const unknown = { name, image: '', tag: '', digest: '', source: '', runtime: 2 } as const
    try {
      const { when = true, values, image, ...fields } = evaluate(expressions, resource)
      if (when !== true) return undefined
      const source = JSON.stringify({
        name: resource.metadata.name,
        ...base,
        ...fields,
        ...(isJsonObject(base.manifests) && { manifests: withValues(base.manifests, values) }),
      })
      const digest = digestOf(Buffer.from(source))
      const run = typeof image === 'string' ? image : ''
      return { found: { ...unknown, image: run, tag: run && imageTag(run), digest, source } }
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error
      return { found: { ...unknown, unreadable: `${error.message}; correct the resource, or "map"` } }
    }
  }
}

function withValues(manifests: JsonObject, values: Json | undefined): JsonObject {
  const before = isJsonObject(manifests.values) ? manifests.values : {}
  return isJsonObject(values) ? { ...manifests, values: { ...before, ...values } } : manifests
}

function evaluate(expressions: ReadonlyMap<string, Expression>, resource: KubernetesObject): JsonObject {
  const object = resource as unknown as JsonObject
  return Object.fromEntries(
    [...expressions].map(([key, expression]) => {
      try {
        return [key, expression.evaluate({ object })]
      } catch (error) {
        throw error instanceof ExpressionError ? new ExpressionError(`map.${key}: ${error.message}`) : error
      }
    }),
  )
}

async function readBase(path: string): Promise<JsonObject> {
  const unreadable = (error: NodeJS.ErrnoException): never => {
    throw new RegistryError(`the bundle ${path} cannot be read (${error.code}); create it, or correct "bundle"`)
  }
  const file = (await stat(path).catch(unreadable)).isDirectory() ? join(path, 'bundle.yml') : path
  const read = readSource(await readFile(file, 'utf8').catch(unreadable), file)
  if (!read.ok) throw new RegistryError(`${file}: ${read.mistakes.map(explain)[0]}`)
  if (!isJsonObject(read.source.root)) throw new RegistryError(`${file} is not a spec; write version, name and plans`)
  return read.source.root
}
