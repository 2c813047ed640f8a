import { access, mkdir, realpath, writeFile } from 'node:fs/promises'
import { basename, join, relative, resolve } from 'node:path'
import { failure, wrongUsage } from '../cli-error.ts'
import type { CliIo } from '../io.ts'
import { packageRoot, packageVersion } from '../package-info.ts'
import { toDependency } from '../project/dependency.ts'
import { projectFiles } from '../project/files.ts'
import { toPackageName } from '../project/package-json.ts'

export async function runInit(io: CliIo, folder: string): Promise<void> {
  const target = resolve(io.cwd, folder)
  const { files, existing } = await plan(target)
  if (existing.length > 0) {
    throw wrongUsage({
      what: `there is something in ${target} already`,
      why: `these files would be overwritten: ${existing.join(', ')}`,
      next: 'Choose another folder, or move the files away.',
    })
  }
  for (const { path, text } of files) await writeFile(join(target, path), text, { flag: 'wx' })
  io.stdout.write(`${files.map(({ path }) => join(target, path)).join('\n')}\n`)
  io.stderr.write(renderNextSteps(relative(io.cwd, target)))
}

function renderNextSteps(folder: string): string {
  const steps = [
    ...(folder === '' ? [] : [`cd ${/^[\w./-]+$/.test(folder) ? folder : `'${folder}'`}`]),
    'npm install',
    'npm start',
    'npx purser catalog    # in another terminal',
  ]
  return `\nNext:\n${steps.map(step => `  ${step}\n`).join('')}`
}

async function plan(target: string) {
  try {
    await mkdir(target, { recursive: true })
    // npm resolves a path from where the folder really is.
    const folder = await realpath(target)
    const root = await realpath(packageRoot())
    const files = projectFiles(toPackageName(basename(folder)), toDependency(root, packageVersion(), folder))
    const existing = []
    for (const { path } of files) if (await exists(join(folder, path))) existing.push(path)
    return { files, existing }
  } catch (error) {
    throw failure({
      what: `could not make a project in ${target}`,
      why: error instanceof Error ? error.message : String(error),
      next: 'Check the path and its permissions.',
    })
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
