/**
 * The folder of a sandbox on this machine: it appears at once, complete, and exactly one caller makes it. When the sandbox
 * is removed, the folder stays for an hour with nothing in it but the note that says so: no other can appear in its place.
 */
import { randomBytes } from 'node:crypto'
import { chmod, chown, mkdir, open, readdir, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FoundSandbox } from '../sandbox.ts'
import { deleteFolder, emptyFolder } from './delete-folder.ts'
import type { InputFile, Layout, Places } from './inputs.ts'
import { claimFolder, isCode, markRemoved, moved, ownerFile, readOwn, readOwner, removed, unless } from './owner.ts'

export interface User {
  readonly uid: number
  readonly gid: number
}

export interface Folders extends Places {
  readonly folder: string
  /** What the runtime remembers of it. */
  readonly job: string
}

export function foldersOf(root: string, name: string): Folders {
  const folder = join(root, name)
  return {
    folder,
    input: join(folder, 'input'),
    output: join(folder, 'output'),
    home: join(folder, 'home'),
    temporary: join(folder, 'tmp'),
    job: join(folder, 'job.json'),
  }
}

/** Where a bundle of the Automation Broker leaves its last words; there from the start, so that it can be mounted. */
export const terminationLog = 'termination-log'

export interface Contents {
  readonly layout: Layout
  readonly job: SandboxJob
  readonly user?: User
}

/** What every runtime remembers of a sandbox. */
export interface SandboxJob {
  readonly labels: Readonly<Record<string, string>>
  readonly createdAt: number
}

/** False where the folder is there already. When it resolves, the folder survives a crash of the machine. */
export async function createFolders(root: string, name: string, contents: Contents): Promise<boolean> {
  const { job, user } = contents
  const { folders, files } = contents.layout
  await makeRoot(root)
  const made = foldersOf(root, newName())
  await mkdir(made.input, { recursive: true, mode: 0o700 })
  for (const folder of folders) await mkdir(join(made.input, folder), { mode: 0o700 })
  await Promise.all(files.map(file => writeInput(made.input, file, user)))
  for (const folder of [...folders].reverse()) await giveTo(user, join(made.input, folder), 0o550)
  await giveTo(user, made.input, 0o550)
  for (const folder of [made.output, made.home, made.temporary]) {
    await mkdir(folder, { mode: 0o700 })
    if (user !== undefined) await chown(folder, user.uid, user.gid)
  }
  await writeFile(join(made.output, terminationLog), '', { mode: 0o600 })
  if (user !== undefined) await chown(join(made.output, terminationLog), user.uid, user.gid)
  await writeFile(made.job, JSON.stringify(job), { mode: 0o600, flush: true })
  return put(root, made.folder, name)
}

/** Sees to it that the name has a folder, from which it can be removed: it cannot appear any more. */
export async function reserveFolder(root: string, name: string): Promise<void> {
  if ((await ageOf(join(root, name), 0)) !== undefined) return
  await makeRoot(root)
  const made = join(root, newName())
  await mkdir(made, { mode: 0o700 })
  claimFolder(made, removed)
  await put(root, made, name)
}

/** Deletes a sandbox's files and keeps its name reserved. False if there was no such sandbox. */
export async function removeFolder(root: string, name: string): Promise<boolean> {
  const folder = join(root, name)
  if (!markRemoved(folder)) return false
  await syncFolder(folder)
  await emptyFolder(folder, ownerFile)
  return true
}

/**
 * Lists all sandboxes; clears away what crashes left half made or half removed, and names that are free
 * again. It remembers which names were removed: there may be thousands, and it is asked every few seconds.
 */
export function createFolderList(root: string): (now: number) => Promise<readonly FoundSandbox[]> {
  const removedUntil = new Map<string, number>()

  async function isAlive(name: string, now: number): Promise<boolean> {
    if (removedUntil.has(name)) return false
    const path = join(root, name)
    if ((await readOwner(path)) !== removed) return true
    const age = await ageOf(join(path, ownerFile), now)
    if (age === undefined || age > anHour) await freeName(root, name)
    else {
      await emptyFolder(path, ownerFile)
      removedUntil.set(name, now - age + anHour)
    }
    return false
  }

  return async now => {
    for (const [name, end] of removedUntil) if (end < now) removedUntil.delete(name)
    const found: FoundSandbox[] = []
    for (const entry of (await unless(['ENOENT'], readdir(root))) ?? []) {
      const path = join(root, entry)
      if (entry.startsWith(leaving)) await deleteFolder(path)
      else if (entry.startsWith(unfinished)) {
        if (((await ageOf(path, now)) ?? 0) > anHour) await deleteFolder(path)
      } else if (await isAlive(entry, now)) {
        const job = await readOwn(foldersOf(root, entry).job)
        // Removed meanwhile.
        if (job === undefined) continue
        const { labels, createdAt }: SandboxJob = JSON.parse(job)
        found.push({ name: entry, labels, createdAt })
      }
    }
    return found
  }
}

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const unfinished = '.new-'
const leaving = '.gone-'
/** A removed name stays reserved for this long. An unfinished folder that is older was left behind by a crash. */
const anHour = 3_600_000

function newName(): string {
  return `${unfinished}${randomBytes(6).toString('hex')}`
}

/** Others may pass through to what is theirs, and cannot look around. */
async function makeRoot(root: string): Promise<void> {
  await mkdir(root, { recursive: true, mode: 0o711 })
}

async function put(root: string, made: string, name: string): Promise<boolean> {
  await chmod(made, 0o711)
  try {
    await rename(made, join(root, name))
  } catch (error) {
    await deleteFolder(made)
    if (isCode(error, 'ENOTEMPTY', 'EEXIST')) return false
    throw error
  }
  await syncFolder(root)
  return true
}

async function writeInput(folder: string, { path, text, executable }: InputFile, user: User | undefined) {
  await writeFile(join(folder, path), text, { flush: true })
  await giveTo(user, join(folder, path), executable ? 0o550 : 0o440)
}

/** Readable for the sandbox, writable for nobody. */
async function giveTo(user: User | undefined, path: string, mode: number): Promise<void> {
  if (user !== undefined) await chown(path, process.getuid?.() ?? 0, user.gid)
  await chmod(path, mode)
}

/** Undefined where it is not there. */
async function ageOf(path: string, now: number): Promise<number | undefined> {
  const found = await unless(['ENOENT'], stat(path))
  return found && now - found.mtimeMs
}

async function freeName(root: string, name: string): Promise<void> {
  const gone = join(root, `${leaving}${randomBytes(6).toString('hex')}`)
  if (await moved(join(root, name), gone)) await deleteFolder(gone)
}
