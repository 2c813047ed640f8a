import { createHash, type Hash } from 'node:crypto'
import { constants } from 'node:fs'
import { open, readdir, readlink, realpath } from 'node:fs/promises'
import { isAbsolute, join, relative, sep } from 'node:path'
import { RegistryError } from './registry-error.ts'

/** What runs of a bundle by its author leave in its folder. It is not part of the bundle, and may hold secrets. */
export const leftByRuns = '.bundle-run.json'

export interface HashedFolder {
  readonly digest: string
  /** The files that were to be kept, by their names: the bytes that the digest is of. */
  readonly kept: ReadonlyMap<string, Buffer>
}

const maxFiles = 10_000
const maxBytes = 512 * 1024 * 1024
const maxKept = 1024 * 1024

/**
 * SHA-256 over the files of a folder in the order of their names: names, contents, and whether they can be run. A link is
 * hashed as a link, and refused where it leads out of the folder, whose path is its real one.
 */
export async function hashFolder(folder: string, keep: readonly string[], signal?: AbortSignal): Promise<HashedFolder> {
  const hash = createHash('sha256')
  const kept = new Map<string, Buffer>()
  let [files, bytes] = [0, 0]

  const walk = async (below: string): Promise<void> => {
    const entries = await readdir(join(folder, below), { withFileTypes: true })
    for (const entry of entries.toSorted((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))) {
      signal?.throwIfAborted()
      if (below === '' && entry.name === leftByRuns) continue
      const name = below === '' ? entry.name : `${below}/${entry.name}`
      if (++files > maxFiles) throw new RegistryError(`it has more than ${maxFiles} files; keep data elsewhere`)
      if (entry.isDirectory()) await walk(name)
      else if (entry.isSymbolicLink()) await addLink(hash, folder, name)
      else if (entry.isFile()) await addFile(name)
      else throw new RegistryError(`${name} is neither a file nor a folder; remove it`)
    }
  }

  const addFile = async (name: string): Promise<void> => {
    // Not through a link that has taken the file's place since.
    const file = await open(join(folder, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const { size, mode } = await file.stat()
      frame(hash, mode & 0o111 ? 'program' : 'file', name)
      const content = createHash('sha256')
      const chunks: Buffer[] = []
      let read = 0
      for await (const chunk of file.createReadStream({ autoClose: false })) {
        read += chunk.length
        bytes += chunk.length
        if (bytes > maxBytes) throw new RegistryError(`it has more than ${maxBytes} bytes; keep data elsewhere`)
        content.update(chunk)
        if (keep.includes(name)) chunks.push(chunk)
        if (keep.includes(name) && read > maxKept) throw new RegistryError(`${name} has more than ${maxKept} bytes`)
      }
      if (read !== size) throw new RegistryError(`${name} changed while it was read`)
      hash.update(content.digest())
      if (keep.includes(name)) kept.set(name, Buffer.concat(chunks))
    } finally {
      await file.close()
    }
  }

  await walk('')
  return { digest: `sha256:${hash.digest('hex')}`, kept }
}

export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

async function addLink(hash: Hash, folder: string, name: string): Promise<void> {
  const target = await readlink(join(folder, name))
  // Where it really leads: through other links, `..` goes elsewhere than it looks.
  const end = await realpath(join(folder, name)).catch(() => {
    throw new RegistryError(`${name} is a link that leads nowhere; remove it`)
  })
  if (!isInside(folder, end))
    throw new RegistryError(`${name} is a link that leads out of the folder; put the file itself there`)
  frame(hash, 'link', name, target)
}

/** Each part with its length before it: no two folders can be written the same. */
function frame(hash: Hash, ...parts: readonly string[]): void {
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:${part};`)
}
