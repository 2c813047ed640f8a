import { access, mkdir, realpath, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { failure, messageOf, wrongUsage } from './cli-error.ts'
import type { CliIo } from './io.ts'

export interface NewFile {
  readonly path: string
  readonly text: string
  readonly executable?: boolean
}

/**
 * Makes a folder with new files, never over a file that exists, and prints their paths. Answers the folder as a person
 * types it, from the current one; empty for the current one itself.
 */
export async function writeNewFiles(
  io: CliIo,
  folder: string,
  what: 'project' | 'bundle',
  filesFor: (realFolder: string) => readonly NewFile[],
): Promise<string> {
  const target = resolve(io.cwd, folder)
  const existing: string[] = []
  let files: readonly NewFile[] = []
  try {
    await mkdir(target, { recursive: true })
    files = filesFor(await realpath(target))
    for (const { path } of files) if (await exists(join(target, path))) existing.push(path)
    if (existing.length === 0)
      for (const { path, text, executable } of files)
        await writeFile(join(target, path), text, { flag: 'wx', mode: executable ? 0o755 : 0o644 })
  } catch (error) {
    throw failure({
      what: `could not make a ${what} in ${target}`,
      why: messageOf(error),
      next: 'Check the path and its permissions.',
    })
  }
  if (existing.length > 0)
    throw wrongUsage({
      what: `there is something in ${target} already`,
      why: `these files would be overwritten: ${existing.join(', ')}`,
      next: 'Choose another folder, or move the files away.',
    })
  io.stdout.write(`${files.map(({ path }) => join(target, path)).join('\n')}\n`)
  const typed = relative(io.cwd, target)
  return /^[\w./-]*$/.test(typed) ? typed : `'${typed}'`
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
