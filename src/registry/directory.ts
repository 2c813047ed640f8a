import { readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { quickFs as fs } from '../bundle/quick-fs.ts'
import type { RegistryAnswer } from '../registry.ts'
import { text } from '../shape/fields.ts'
import type { Read } from '../shape/shape.ts'
import { type BundleReading, readEach } from './answer.ts'
import { hashFolder, isInside } from './hash-folder.ts'
import { messageOf, RegistryError } from './registry-error.ts'
import type { Asking, RegistryType } from './registry-type.ts'
import { needsNoCredentials, registryShape } from './settings.ts'

/** The first one that is there is the spec. */
const specFiles = ['bundle.yml', 'apb.yml'] as const

const path = text({
  kind: 'folder',
  rule: 'the path of a folder, for the type directory',
  doc: 'the folder that has the bundles',
})
const shape = registryShape({ path }, [needsNoCredentials])

/** A folder whose sub-folders are bundles. */
export const directory = { name: 'directory', shape, offers: 'folder', list } satisfies RegistryType

async function list({ path }: Read<typeof shape>, { passes, signal }: Asking): Promise<RegistryAnswer> {
  const unreadable = (error: NodeJS.ErrnoException): never => {
    throw new RegistryError(`the folder ${path} cannot be read (${error.code}); create it, or correct the path`)
  }
  const root = await realpath(path).catch(unreadable)
  const entries = await readdir(root, { withFileTypes: true }).catch(unreadable)
  const found = entries.filter(({ name }) => !name.startsWith('.') && passes(name))
  const folders = new Set(found.filter(entry => entry.isDirectory()).map(({ name }) => name))
  const links = found.filter(entry => entry.isSymbolicLink()).map(({ name }) => name)
  const folderOf = (name: string) => (folders.has(name) ? join(root, name) : followLink(root, name))
  return readEach([...folders, ...links].toSorted(), name => readBundle(name, folderOf, signal), signal)
}

/** Undefined where it does not lead to a folder. */
async function followLink(root: string, name: string): Promise<string | undefined> {
  const end = await realpath(join(root, name))
  if (!isInside(root, end)) throw new RegistryError('it is a link that leads out of the registry; copy the folder')
  return (await stat(end)).isDirectory() ? end : undefined
}

async function readBundle(
  name: string,
  folderOf: (name: string) => string | undefined | Promise<string | undefined>,
  signal: AbortSignal,
): Promise<BundleReading> {
  try {
    const folder = await folderOf(name)
    if (folder === undefined) return undefined
    const files = await fs.readdir(folder)
    if (!specFiles.some(file => files.includes(file))) return undefined
    const { digest, kept } = await hashFolder(folder, specFiles, signal)
    const spec = specFiles.flatMap(file => kept.get(file) ?? [])[0]
    if (spec === undefined)
      throw new RegistryError(`its ${specFiles.join(' or ')} is not a plain file; put the file there`)
    return { found: { name, image: folder, tag: '', digest, source: Buffer.from(spec).toString(), runtime: 2 } }
  } catch (error) {
    throw error instanceof RegistryError ? error : new RegistryError(`it cannot be read (${messageOf(error)})`)
  }
}
