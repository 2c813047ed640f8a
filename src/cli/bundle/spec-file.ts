import { existsSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { messageOf } from '../../shape/thrown.ts'
import { wrongUsage } from '../cli-error.ts'

/** The first one that exists is used. */
const names = ['bundle.yml', 'apb.yml'] as const

/** Reads the spec of a bundle, from its folder or from a named file; `shown` is its name in messages. */
export async function readSpecFile(path: string, cwd: string) {
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
