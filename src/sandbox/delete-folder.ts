/** Clearing away what a bundle left, whatever it did to make that hard. */
import { randomBytes } from 'node:crypto'
import { chmod, lstat, readdir, rename, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { unless } from './owner.ts'

/** Removes a folder, also one that is deeper than paths can be long, is read-only, or has names that are not text. */
export async function deleteFolder(folder: string): Promise<void> {
  await emptyFolder(folder)
  await unlessGone(rmdir(folder))
}

/** Takes everything out of a folder but `kept`. Others may do the same at the same time. */
export async function emptyFolder(folder: string, kept?: string): Promise<void> {
  for (;;) {
    const names = (await namesIn(Buffer.from(folder))).filter(name => name.toString() !== kept)
    if (names.length === 0) return
    await unlessGone(chmod(folder, 0o700))
    await inBatches(names, name => dissolve(folder, below(folder, name)))
  }
}

/** Deletes a file. The folders in a folder are moved up to the top and met again there, so that no path gets too long. */
async function dissolve(top: string, path: Buffer): Promise<void> {
  if (!(await isFolder(path))) return unlessGone(unlink(path))
  await unlessGone(chmod(path, 0o700))
  await inBatches(await namesIn(path), async name => {
    const inner = below(path, name)
    if (await isFolder(inner)) {
      // Moving a folder changes it: its own rights count too.
      await unlessGone(chmod(inner, 0o700))
      await unlessGone(rename(inner, join(top, `.lifted-${randomBytes(6).toString('hex')}`)))
    } else await unlessGone(unlink(inner))
  })
  await unlessGone(rmdir(path))
}

const together = 32

/** Many at a time: every action of a bundle waits for this. Not all at once: a bundle may leave a million. */
async function inBatches<Item>(items: readonly Item[], run: (item: Item) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < items.length; at += together) await Promise.all(items.slice(at, at + together).map(run))
}

function below(folder: string | Buffer, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(folder), Buffer.from('/'), name])
}

async function namesIn(folder: Buffer): Promise<Buffer[]> {
  return (await unlessGone(readdir(folder, { encoding: 'buffer' }))) ?? []
}

async function isFolder(path: Buffer): Promise<boolean> {
  return (await unlessGone(lstat(path)))?.isDirectory() ?? false
}

/** Undefined where somebody else was faster, or put something into a folder meanwhile. */
function unlessGone<Result>(done: Promise<Result>): Promise<Result | undefined> {
  return unless(['ENOENT', 'ENOTEMPTY'], done)
}
