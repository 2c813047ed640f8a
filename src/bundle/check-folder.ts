import { constants, type Dirent, existsSync } from 'node:fs'
import { readlink, realpath } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { Mistake } from '../shape/mistake.ts'
import { quickFs as fs } from './quick-fs.ts'
import type { SaidOfProgram } from './spec.ts'

interface FolderProblem extends Pick<Mistake, 'severity' | 'problem'> {
  /** Relative to the folder of the bundle. */
  readonly file: string
}

export interface BundleFolder {
  readonly path: string
  /** What messages call it. */
  readonly shown: string
  /** It is run as it is: that an image could be made of it does not help. */
  readonly isRun?: boolean
}

/** What keeps a bundle in a folder from being run, or from being copied by the broker. */
export async function checkFolder(folder: BundleFolder, program: SaidOfProgram | undefined): Promise<Mistake[]> {
  const { path, shown, isRun = false } = folder
  // Where it consists of manifests, nothing is run; where the spec cannot be read, nobody knows what would be.
  const { entrypoint = 'entrypoint.sh', manifests } = program ?? {}
  const ofProgram = program && manifests === undefined ? await checkProgram(path, entrypoint, isRun) : []
  const problems = [...ofProgram, ...(await checkFiles(path))]
  return problems.map(({ file, ...found }) => ({ ...found, path: [], place: { source: join(shown, file) } }))
}

async function checkProgram(root: string, entrypoint: string, isRun: boolean): Promise<FolderProblem[]> {
  const tell = (problem: string, severity?: 'warning'): FolderProblem[] => [{ file: entrypoint, problem, severity }]
  const path = resolve(root, entrypoint)
  if (isAbsolute(entrypoint) || !isInside(root, path)) return tell('it is outside of the bundle; name a file inside')
  const program = await readProgram(path)
  if (program === undefined) {
    // An image is built from such a folder, and the image has its own program.
    if (containerfileOf(root) !== undefined && !isRun)
      return tell('is missing, so the bundle can be run as an image only', 'warning')
    return tell('is missing; add it, or name another "entrypoint" in the spec')
  }
  const { isFile, isExecutable, beginning } = program
  if (!isFile) return tell('is not a file; put the program there')
  const problems = checkBeginning(beginning).flatMap(problem => tell(problem))
  return isExecutable ? problems : [...tell('is not executable; run chmod +x on it'), ...problems]
}

/** Undefined where there is nothing. A pipe has no beginning, and nobody waits for one. */
async function readProgram(path: string) {
  const file = await fs.open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(asMissing)
  if (file === undefined) return undefined
  try {
    const stats = fs.fstatSync(file)
    const isFile = stats.isFile()
    const chunk = Buffer.alloc(256)
    const bytesRead = isFile ? (await fs.read(file, chunk, 0, chunk.length, 0)).bytesRead : 0
    return { isFile, isExecutable: (stats.mode & 0o111) !== 0, beginning: chunk.toString('latin1', 0, bytesRead) }
  } finally {
    fs.closeSync(file)
  }
}

function asMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'EACCES' || error.code === 'EPERM') throw error
}

/** The kernel needs a #! line to run a script; a carriage return in it becomes part of the program's name. */
function checkBeginning(beginning: string): string[] {
  const [line = ''] = beginning.split('\n')
  if (line.startsWith('\u007fELF')) return []
  if (!line.startsWith('#!')) return ['has no #! line; begin it with #!/bin/sh, or another program']
  return line.endsWith('\r') ? ['has Windows line ends; write it with \\n alone'] : []
}

/** What an image of the folder is built with. */
export function containerfileOf(root: string): string | undefined {
  return ['Containerfile', 'Dockerfile'].find(name => existsSync(join(root, name)))
}

async function checkFiles(root: string): Promise<FolderProblem[]> {
  const problems: FolderProblem[] = []
  // One folder at a time: `recursive` takes five times as long.
  const walk = async (folder: string): Promise<void> => {
    for (const entry of await fs.readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      const problem = entry.isSymbolicLink() ? await checkLink(root, path) : checkType(entry)
      if (problem !== undefined) problems.push({ file: relative(root, path), problem })
      if (entry.isDirectory()) await walk(path)
    }
  }
  await walk(root)
  return problems.toSorted((a, b) => (a.file < b.file ? -1 : 1))
}

function checkType(entry: Dirent): string | undefined {
  return entry.isFile() || entry.isDirectory() ? undefined : 'is neither a file nor a folder; remove it'
}

async function checkLink(root: string, path: string): Promise<string | undefined> {
  const end = await realpath(path).catch(() => undefined)
  if (end === undefined) return 'is a link that leads nowhere; remove it'
  if (!isInside(await realpath(root), end)) return 'is a link that leads out of the bundle; put the file itself there'
  return isAbsolute(await readlink(path)) ? 'is a link with an absolute path; make it relative' : undefined
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
