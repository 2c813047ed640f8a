import { existsSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { checkBundle } from '../../bundle/check-bundle.ts'
import { formatMistake } from '../../bundle/mistakes.ts'
import { isError } from '../../shape/mistake.ts'
import { messageOf } from '../../shape/thrown.ts'
import { failure, wrongUsage } from '../cli-error.ts'

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

/** The spec of a bundle in a folder, or an end with what is wrong. `why` says what a folder is needed for. */
export async function readUsableSpec(path: string, cwd: string, why: string) {
  const { shown, text, folder } = await readSpecFile(path, cwd)
  if (folder === undefined)
    throw wrongUsage({ what: `${path} is not a folder`, why, next: 'Name the folder that bundle.yml is in.' })
  const { bundle, problems } = await checkBundle(text, { where: shown, registry: 'local' })
  if (bundle !== undefined) return { spec: bundle.spec, text, folder }
  throw failure({
    what: `${shown} cannot be used`,
    why: problems.filter(isError).map(formatMistake).join('; '),
    next: 'purser bundle lint lists the mistakes, one per line.',
  })
}
