import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, cp, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Revision } from '../../domain/revision.ts'
import { type Observer, silent, toError } from '../../observer.ts'
import { hashFolder, leftByRuns } from '../../registry/hash-folder.ts'
import { unless } from '../../sandbox/owner.ts'

type FolderRevision = Pick<Revision, 'fullName' | 'image' | 'digest'>

export type BundleFolders = ReturnType<typeof createBundleFolders>

/**
 * Copies of bundles that are folders: whoever edits such a folder does not change what an instance is pinned to. `folder` is
 * the one of all that bundles need on this machine.
 */
export function createBundleFolders(folder: string, observer: Observer = silent) {
  const root = join(folder, 'revisions')
  const keeping = new Map<string, Promise<boolean>>()
  const copyOf = (digest: string) => join(root, digest.replace(/^sha256:/, ''))

  /** The digest is taken of the copy: the folder itself may change meanwhile. */
  const copy = async ({ image, digest }: FolderRevision): Promise<boolean> => {
    // Looked at before every run: a bundle of the same user may have written to it.
    if (await isWhole(copyOf(digest), digest)) return true
    await setAside(root, copyOf(digest))
    const draft = join(root, `.new-${randomBytes(6).toString('hex')}`)
    try {
      await mkdir(root, { recursive: true, mode: 0o711 })
      await cp(image, draft, {
        recursive: true,
        verbatimSymlinks: true,
        errorOnExist: true,
        force: false,
        filter: source => source !== join(image, leftByRuns),
      })
      await openForAll(draft)
      const copied = await hashFolder(draft, [])
      if (copied.digest !== digest) return false
      await rename(draft, copyOf(digest))
      return true
    } catch (error) {
      // Somebody else may have been faster.
      if (await isWhole(copyOf(digest), digest)) return true
      observer['bundle.copyFailed']?.({ folder: image, error: toError(error) })
      return false
    } finally {
      await rm(draft, { recursive: true, force: true })
    }
  }

  /** Copies the folder if it still is the one that the revision was made of. Says whether there is a copy now. */
  const keepFolder = (revision: FolderRevision): Promise<boolean> => {
    const { digest } = revision
    const running = keeping.get(digest) ?? copy(revision).finally(() => keeping.delete(digest))
    keeping.set(digest, running)
    return running
  }

  return {
    keepFolder,
    /** The copy, which is whole. Without one, the folder itself as it is now, and a warning. */
    async folderOf(revision: FolderRevision): Promise<string> {
      if (await keepFolder(revision)) return copyOf(revision.digest)
      observer['bundle.changed']?.({ bundle: revision.fullName, folder: revision.image })
      return revision.image
    },
    /** Deletes the copies with other digests. */
    async deleteUnusedFolders(keep: ReadonlySet<string>): Promise<void> {
      const kept = new Set([...keep].map(digest => digest.replace(/^sha256:/, '')))
      const found = (await unless(['ENOENT'], readdir(root))) ?? []
      // Drafts are left to whoever makes them: this process, or one beside it.
      for (const name of found.filter(candidate => /^[0-9a-f]{64}$/.test(candidate) && !kept.has(candidate)))
        await rm(join(root, name), { recursive: true, force: true })
    },
  }
}

/** Whether the copy is there, and what the digest was taken of. */
async function isWhole(copy: string, digest: string): Promise<boolean> {
  return hashFolder(copy, []).then(
    found => found.digest === digest,
    () => false,
  )
}

/** What runs in it goes on as long as it can; the next run gets another copy. */
async function setAside(root: string, copy: string): Promise<void> {
  if (!existsSync(copy)) return
  const gone = join(root, `.new-${randomBytes(6).toString('hex')}`)
  await unless(['ENOENT'], rename(copy, gone))
  await rm(gone, { recursive: true, force: true })
}

/** The bundle's own user must be able to read it, whoever owns the copy. */
async function openForAll(folder: string): Promise<void> {
  await chmod(folder, 0o755)
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await openForAll(path)
    else if (entry.isFile()) await chmod(path, (await stat(path)).mode & 0o111 ? 0o555 : 0o444)
  }
}
