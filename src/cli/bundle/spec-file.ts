import { readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { wrongUsage } from '../cli-error.ts'

/** The first one that exists is used. */
const names = ['bundle.yml', 'apb.yml'] as const

export interface SpecFile {
  /** Its name in messages. */
  readonly shown: string
  readonly text: string
  /** Absent if a file was named, not a folder. */
  readonly folder?: string
}

/** Reads the spec of a bundle, from its folder or from a named file. */
export async function readSpecFile(path: string, cwd: string): Promise<SpecFile> {
  const target = resolve(cwd, path)
  const found = await stat(target).catch((error: NodeJS.ErrnoException) => {
    throw unreadable(path, error.code === 'ENOENT' ? 'it does not exist' : String(error.code))
  })
  if (!found.isDirectory()) return { shown: path, text: await read(target, path) }
  for (const name of names) {
    const file = join(target, name)
    if ((await stat(file).catch(() => undefined))?.isFile() !== true) continue
    return { shown: join(path, name), text: await read(file, path), folder: target }
  }
  throw unreadable(path, `it has neither ${names.join(' nor ')}`)
}

async function read(file: string, path: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw unreadable(path, String(error.code))
  })
}

function unreadable(path: string, why: string) {
  return wrongUsage({
    what: `there is no bundle at ${path}`,
    why,
    next: 'Name the folder of a bundle; purser bundle init writes a new one.',
  })
}
