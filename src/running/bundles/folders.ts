import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Revision } from '../../domain/revision.ts'
import { type Observer, silent, toError } from '../../observer.ts'
import { copyFolder, hashFolder } from '../../registry/hash-folder.ts'
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

  const copy = async (revision: FolderRevision): Promise<boolean> => {
    // Looked at before every run: a bundle of the same user may have written to it.
    if (await isWhole(copyOf(revision.digest), revision.digest)) return true
    await setAside(root, copyOf(revision.digest))
    return make(revision)
  }

  /** The digest is taken of what is written: the folder itself may change meanwhile. */
  const make = async ({ image, digest }: FolderRevision): Promise<boolean> => {
    const draft = join(root, `.new-${randomBytes(6).toString('hex')}`)
    try {
      await mkdir(root, { recursive: true, mode: 0o711 })
      const isSame = (await copyFolder(image, draft)) === digest
      if (isSame) await rename(draft, copyOf(digest))
      else await rm(draft, { recursive: true, force: true })
      return isSame
    } catch (error) {
      await rm(draft, { recursive: true, force: true })
      // Somebody else may have been faster.
      if (await isWhole(copyOf(digest), digest)) return true
      observer['bundle.copyFailed']?.({ folder: image, error: toError(error) })
      return false
    }
  }

  /** Copies the folder if it still is the one that the revision was made of. Says whether there is a copy now. */
  const keepFolder = (revision: FolderRevision, by = copy): Promise<boolean> => {
    const { digest } = revision
    const running = keeping.get(digest) ?? by(revision).finally(() => keeping.delete(digest))
    keeping.set(digest, running)
    return running
  }

  return {
    /** Sees to it that there is a copy of each of these. Copies that are there are looked at before they run. */
    async keepFolders(revisions: readonly FolderRevision[]): Promise<void> {
      const there = new Set(await unless(['ENOENT'], readdir(root)))
      const missing = revisions.filter(({ digest }) => !there.has(basename(copyOf(digest)))).values()
      const work = async () => {
        for (const revision of missing) await keepFolder(revision, make)
      }
      await Promise.all(Array.from({ length: copiesAtOnce }, work))
    },
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

const copiesAtOnce = 4

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
