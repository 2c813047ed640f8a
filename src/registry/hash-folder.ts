import { createHash, type Hash } from 'node:crypto'
import { chmodSync, constants, fchmodSync, mkdirSync, openSync, statSync, writeSync } from 'node:fs'
import { readlink, realpath, symlink } from 'node:fs/promises'
import { isAbsolute, join, relative, sep } from 'node:path'
import { quickFs as fs } from '../bundle/quick-fs.ts'
import { RegistryError } from './registry-error.ts'

/** What runs of a bundle by its author leave in its folder. It is not part of the bundle, and may hold secrets. */
export const leftByRuns = '.bundle-run.json'

export interface HashedFolder {
  readonly digest: string
  /** The files that were to be kept, by their names: the bytes that the digest is of. */
  readonly kept: ReadonlyMap<string, Uint8Array>
}

const maxFiles = 10_000
const maxBytes = 512 * 1024 * 1024
const maxKept = 1024 * 1024

/** So much is read, and written, at once: every file that may be kept. */
const chunkSize = maxKept + 1

/**
 * SHA-256 over the files of a folder in the order of their names: names, contents, and whether they can be run. A link is
 * hashed as a link, and refused where it leads out of the folder, whose path is its real one.
 */
export function hashFolder(folder: string, keep: readonly string[], signal?: AbortSignal): Promise<HashedFolder> {
  return readFolder(folder, { keep, signal })
}

/**
 * Copies what `hashFolder` hashes, and answers the digest of what it has written. Everybody may read the copy, and nobody
 * should write to it. `to` must not exist.
 */
export async function copyFolder(folder: string, to: string): Promise<string> {
  return (await readFolder(folder, { keep: [], copyTo: to })).digest
}

interface ReadFolderOptions {
  readonly keep: readonly string[]
  readonly signal?: AbortSignal
  readonly copyTo?: string
}

async function readFolder(folder: string, { keep, signal, copyTo }: ReadFolderOptions): Promise<HashedFolder> {
  const hash = createHash('sha256')
  const kept = new Map<string, Buffer>()
  let [files, bytes] = [0, 0]

  const walk = async (below: string): Promise<void> => {
    if (copyTo !== undefined) makeFolder(join(copyTo, below))
    const entries = await fs.readdir(join(folder, below), { withFileTypes: true })
    for (const entry of entries.toSorted((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))) {
      signal?.throwIfAborted()
      if (below === '' && entry.name === leftByRuns) continue
      const name = below === '' ? entry.name : `${below}/${entry.name}`
      if (++files > maxFiles) throw new RegistryError(`it has more than ${maxFiles} files; keep data elsewhere`)
      if (entry.isDirectory()) await walk(name)
      else if (entry.isSymbolicLink()) await addLink(name)
      else if (entry.isFile()) await addFile(name)
      else throw new RegistryError(`${name} is neither a file nor a folder; remove it`)
    }
  }

  const addLink = async (name: string): Promise<void> => {
    const target = await linkIn(folder, name)
    frame(hash, 'link', name, target)
    if (copyTo !== undefined) await symlink(target, join(copyTo, name))
  }

  const addFile = async (name: string): Promise<void> => {
    // Not through a link that has taken the file's place since.
    const file = await fs.open(join(folder, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const { size, mode } = fs.fstatSync(file)
      const isProgram = (mode & 0o111) !== 0
      frame(hash, isProgram ? 'program' : 'file', name)
      bytes += size
      if (bytes > maxBytes) throw new RegistryError(`it has more than ${maxBytes} bytes; keep data elsewhere`)
      if (keep.includes(name) && size > maxKept) throw new RegistryError(`${name} has more than ${maxKept} bytes`)
      const copy = copyTo === undefined ? undefined : createFile(join(copyTo, name), isProgram ? 0o555 : 0o444)
      try {
        const content = await addContent(file, size, copy)
        if (content === undefined) throw new RegistryError(`${name} changed while it was read`)
        if (keep.includes(name)) kept.set(name, content)
      } finally {
        if (copy !== undefined) fs.closeSync(copy)
      }
    } finally {
      fs.closeSync(file)
    }
  }

  /** The bytes that were read last, which are all of a file that may be kept; undefined where there are not so many as there should be. */
  const addContent = async (file: number, size: number, copy: number | undefined): Promise<Buffer | undefined> => {
    const content = createHash('sha256')
    // One byte more than there should be: where it can be filled, the file has grown.
    const chunk = Buffer.allocUnsafe(Math.min(size + 1, chunkSize))
    for (let [read, filled] = [0, 0]; ; filled = filled === chunk.length ? 0 : filled) {
      const { bytesRead } = await fs.read(file, chunk, filled, chunk.length - filled, read)
      const more = chunk.subarray(filled, filled + bytesRead)
      content.update(more)
      if (copy !== undefined) writeAll(copy, more)
      read += bytesRead
      filled += bytesRead
      if (read > size || (bytesRead === 0 && read < size)) return undefined
      if (read < size || (bytesRead > 0 && filled === chunk.length)) continue
      hash.update(content.digest())
      return chunk.subarray(0, filled)
    }
  }

  await walk('')
  return { digest: `sha256:${hash.digest('hex')}`, kept }
}

// What is written is the broker's own, on a disk of its machine, and small: it is written at once, at a tenth of the cost.

function makeFolder(path: string): void {
  mkdirSync(path, 0o755)
  // Whatever the mask of this process takes away.
  if ((statSync(path).mode & 0o777) !== 0o755) chmodSync(path, 0o755)
}

function createFile(path: string, mode: number): number {
  const file = openSync(path, 'wx', mode)
  if ((fs.fstatSync(file).mode & 0o777) !== mode) fchmodSync(file, mode)
  return file
}

function writeAll(file: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done)
}

export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

async function linkIn(folder: string, name: string): Promise<string> {
  const target = await readlink(join(folder, name))
  // Where it really leads: through other links, `..` goes elsewhere than it looks.
  const end = await realpath(join(folder, name)).catch(() => {
    throw new RegistryError(`${name} is a link that leads nowhere; remove it`)
  })
  if (!isInside(folder, end))
    throw new RegistryError(`${name} is a link that leads out of the folder; put the file itself there`)
  return target
}

/** Each part with its length before it: no two folders can be written the same. */
function frame(hash: Hash, ...parts: readonly string[]): void {
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:${part};`)
}
