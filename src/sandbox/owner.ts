/** Who a sandbox belongs to: a file in its folder, written once, and once more when the sandbox is removed. */
import { randomBytes } from 'node:crypto'
import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { SandboxRefusedError } from '../sandbox.ts'

/** The owner of what was removed: nobody else can own it any more, and nothing can begin in it. */
export const removed = 'removed'
export const ownerFile = 'owner'

/** Makes `owner` the one and only owner of the sandbox; false where it has one, or is gone. */
export function claimFolder(folder: string, owner: string): boolean {
  // A link appears with all its content, and only where there is none.
  return withNote(folder, owner, note => linkSync(note, join(folder, ownerFile)))
}

/** Whoever owned it, it is removed now. There is no moment without an owner. False where the folder is gone. */
export function markRemoved(folder: string): boolean {
  return withNote(folder, removed, note => renameSync(note, join(folder, ownerFile)))
}

export function readOwner(folder: string): Promise<string | undefined> {
  return readOwn(join(folder, ownerFile))
}

/** A file that only runtimes write; undefined where there is none. */
export function readOwn(file: string): Promise<string | undefined> {
  return unless(['ENOENT'], readFile(file, 'utf8'))
}

/** Undefined where the work fails with one of these codes. */
export async function unless<Result>(codes: readonly string[], work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work
  } catch (error) {
    if (isCode(error, ...codes)) return undefined
    throw error
  }
}

/** False where there is nothing to rename. */
export async function moved(from: string, to: string): Promise<boolean> {
  const done = rename(from, to).then(() => true)
  return (await unless(['ENOENT'], done)) ?? false
}

export function wasRemoved(name: string): SandboxRefusedError {
  return new SandboxRefusedError(
    `the sandbox ${name} was removed, and its name cannot be started again; start another operation`,
  )
}

export function isCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code)
}

function withNote(folder: string, text: string, put: (note: string) => void): boolean {
  const note = join(folder, `${ownerFile}.${randomBytes(4).toString('hex')}`)
  try {
    writeFileSync(note, text, { mode: 0o600, flush: true })
    put(note)
    return true
  } catch (error) {
    if (isCode(error, 'EEXIST', 'ENOENT')) return false
    throw error
  } finally {
    rmSync(note, { force: true })
  }
}
