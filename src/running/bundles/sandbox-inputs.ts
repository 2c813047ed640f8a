/** What a bundle's sandbox is given on this machine: the program, the helpers and the way out. */
import { readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { programKindOf, type Revision } from '../../domain/revision.ts'
import type { BundleParts } from '../../driver/bundle/parts.ts'
import type { Registry } from '../../registry.ts'
import type { ImageProgram, PullPolicy } from '../../sandbox.ts'
import type { BundleFolders } from './folders.ts'

interface ProgramForParts {
  readonly pull: PullPolicy
  readonly folders: Pick<BundleFolders, 'folderOf'>
  readonly registries: readonly Registry[]
}

/** What a revision runs. Credentials and folders are looked up each time. */
export function createProgramFor({ folders, ...parts }: ProgramForParts): BundleParts['programFor'] {
  const imageOf = createImageOf(parts)
  return async ({ revision, spec: { entrypoint } }) => {
    if (programKindOf(revision) === 'folder')
      return { kind: 'folder', folder: await folders.folderOf(revision), entrypoint }
    const keepsCredentials = revision.runtime === 1 || undefined
    return { ...(await imageOf(revision)), entrypoint, readsJson: entrypoint === undefined, keepsCredentials }
  }
}

/** The image of a revision, with the credentials of its registry. */
export function createImageOf({ pull, registries }: Omit<ProgramForParts, 'folders'>) {
  return async ({ image, registry: from }: Pick<Revision, 'image' | 'registry'>): Promise<ImageProgram> => {
    const registry = registries.find(({ name }) => name === from)
    const credentials = await registry?.pullCredentials?.(new AbortController().signal)
    return { kind: 'image', image, pull, credentials }
  }
}

/** What `$BUNDLE_HELPERS` has: the files of this package's `helpers`, by their relative paths. */
export async function readHelpers(): Promise<Readonly<Record<string, string>>> {
  const folder = fileURLToPath(new URL('../../../helpers', import.meta.url))
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  // What Python leaves beside its sources is not ours.
  const ours = entries.filter(entry => entry.isFile() && !entry.name.endsWith('.pyc'))
  const files = ours.map(entry => join(entry.parentPath, entry.name)).toSorted()
  const read = async (file: string) => [relative(folder, file).replaceAll(sep, '/'), await readFile(file, 'utf8')]
  return Object.fromEntries(await Promise.all(files.map(read)))
}

/** What the environment says about proxies, in both spellings: programs in sandboxes differ in which one they read. */
export function proxyVariables(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'].flatMap(name => {
      const value = env[name.toLowerCase()] || env[name]
      return value === undefined || value === '' ? [] : [[name, value] as const, [name.toLowerCase(), value] as const]
    }),
  )
}
