import { constants } from 'node:fs'
import { access, readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { codeOf } from '../../shape/thrown.ts'
import { sqliteFile } from '../../store/schemes.ts'
import type { Config } from '../config.ts'
import { namedSecretFiles, type SecretFile } from '../secret-files.ts'
import type { Check, Finding } from './finding.ts'

/** Files with secrets are for the broker alone. */
export const checkFiles: Check = async ({ config }) => {
  const files = await secretFiles(config)
  return (await Promise.all(files.map(judgeFile))).flat()
}

interface CheckedFile extends SecretFile {
  /** The broker closes it to others by itself when it starts. */
  readonly closesItself?: boolean
}

async function secretFiles(config: Config): Promise<readonly CheckedFile[]> {
  const { file, bundles, registries } = config
  const store = config.store.reveal()
  const named = [...bundles.secrets.map(({ secret }) => secret), ...registries.map(secretOf)]
  const folders = bundles.secretsFrom === 'folder' ? named.flatMap(name => name ?? []) : []
  const mounted = await Promise.all(folders.map(name => filesIn(join(bundles.secretsFolder, name))))
  const database = store.startsWith('sqlite:') ? resolve(sqliteFile(store.slice('sqlite:'.length))) : undefined
  const found: readonly (CheckedFile | false)[] = [
    file !== undefined &&
      (await holdsSecret(file, config)) && { what: 'the configuration, with a secret in it', path: file },
    ...namedSecretFiles(config),
    ...mounted.flat().map(path => ({ what: 'a secret', path })),
    database !== undefined && { what: 'the ledger', path: database, closesItself: true },
  ]
  return found.filter(each => each !== false)
}

function secretOf({ authType, authName }: Config['registries'][number]): string | undefined {
  return authType === 'secret' ? authName : undefined
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => [])
  return names.filter(name => !name.startsWith('.')).map(name => join(folder, name))
}

/** A placeholder is none: what it stands for is not in the file. */
async function holdsSecret(file: string, { auth, store, registries }: Config): Promise<boolean> {
  const text = await readFile(file, 'utf8')
  const [, password = ''] = /^[a-z+]+:\/\/[^/@]*?:([^/]+)@/.exec(store.reveal()) ?? []
  const given = [
    password,
    ...auth.basic.map(user => user.password?.reveal()),
    ...registries.flatMap(({ pass, token }) => [pass?.reveal(), token?.reveal()]),
  ]
  return given.some(secret => secret !== undefined && secret !== '' && text.includes(secret))
}

async function judgeFile({ what, path, closesItself = false }: CheckedFile): Promise<readonly Finding[]> {
  const about = `file ${path}`
  const expected = `${what}: for the broker's user alone`
  try {
    await access(path, constants.R_OK)
    const open = await howOpen(path)
    if (open === undefined) return [{ state: 'ok', about, expected, found: 'others cannot read or change it' }]
    return [{ state: closesItself ? 'warning' : 'wrong', about, expected, ...open }]
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' && closesItself) return []
    const remedy =
      code === 'ENOENT' ? 'Correct the path.' : `Give it to the broker's user: chown it, and chmod 600 ${path}.`
    return [{ state: 'wrong', about, expected, found: `it cannot be read (${code})`, remedy }]
  }
}

/** How others get at the file, and what to do; undefined where they do not. */
async function howOpen(path: string): Promise<Pick<Finding, 'found' | 'remedy'> | undefined> {
  // Nobody but the pod sees a volume with a Secret, which is readable to all of its users by default.
  if ((await readdir(dirname(path))).includes('..data')) return undefined
  const folders = foldersAbove(resolve(path))
  const closed = (await Promise.all(folders.map(modeOf))).some(mode => (mode & 0o001) === 0)
  if (closed) return undefined
  const mode = await modeOf(path)
  if ((mode & 0o007) !== 0)
    return {
      found: `its mode is ${show(mode)}: every user of this machine may read it`,
      remedy: `Run chmod 600 ${path}`,
    }
  const folder = dirname(resolve(path))
  const around = await modeOf(folder)
  // In a folder such as /tmp everybody may make files, and replace only one's own.
  if ((around & 0o1002) !== 0o0002) return undefined
  return {
    found: `the mode of ${folder} is ${show(around)}: every user may replace it`,
    remedy: `Run chmod o-w ${folder}`,
  }
}

function foldersAbove(path: string): readonly string[] {
  const folder = dirname(path)
  return folder === path ? [] : [folder, ...foldersAbove(folder)]
}

async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o7777
}

function show(mode: number): string {
  return mode.toString(8).padStart(4, '0')
}
