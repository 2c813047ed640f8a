import { mkdir, stat, writeFile } from 'node:fs/promises'
import { basename, join, relative, resolve } from 'node:path'
import { bundleFiles, toBundleName } from '../bundle/skeleton.ts'
import { failure, wrongUsage } from '../cli-error.ts'
import type { CliIo } from '../io.ts'

export async function initBundle(io: CliIo, folder: string): Promise<void> {
  const target = resolve(io.cwd, folder)
  const files = bundleFiles(toBundleName(basename(target)))
  const existing = []
  for (const { path } of files) if (await isThere(join(target, path))) existing.push(path)
  if (existing.length > 0)
    throw wrongUsage({
      what: `there is something in ${target} already`,
      why: `these files would be overwritten: ${existing.join(', ')}`,
      next: 'Choose another folder, or move the files away.',
    })
  try {
    await mkdir(target, { recursive: true })
    for (const { path, text, executable } of files)
      await writeFile(join(target, path), text, { flag: 'wx', mode: executable ? 0o755 : 0o644 })
  } catch (error) {
    throw failure({
      what: `could not make a bundle in ${target}`,
      why: error instanceof Error ? error.message : String(error),
      next: 'Check the path and its permissions.',
    })
  }
  io.stdout.write(`${files.map(({ path }) => join(target, path)).join('\n')}\n`)
  const at = relative(io.cwd, target)
  const where = at === '' ? '' : ` ${/^[\w./-]+$/.test(at) ? at : `'${at}'`}`
  io.stderr.write(
    `\nNext:\n  purser bundle lint${where === '' ? ' .' : where}\n  purser bundle run provision${where}\n  purser bundle run bind${where} --show-credentials\n`,
  )
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
