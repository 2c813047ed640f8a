import { existsSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { messageOf, wrongUsage } from '../cli-error.ts'

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
  const unreadable = (why: string) =>
    wrongUsage({
      what: `there is no bundle at ${path}`,
      why,
      next: 'Name the folder of a bundle; purser bundle init writes a new one.',
    })
  if (!existsSync(target)) throw unreadable('it does not exist')
  const folder = statSync(target).isDirectory() ? target : undefined
  const name = names.find(candidate => existsSync(join(target, candidate)))
  if (folder !== undefined && name === undefined) throw unreadable(`it has neither ${names.join(' nor ')}`)
  const shown = name === undefined ? path : join(path, name)
  try {
    return { shown, text: await readFile(resolve(cwd, shown), 'utf8'), folder }
  } catch (error) {
    throw unreadable(messageOf(error))
  }
}
