import { access, mkdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { failure, messageOf, wrongUsage } from './cli-error.ts'
import type { CliIo } from './io.ts'
import { packageRoot } from './package-info.ts'

/** What `purser init` and `purser bundle init` write: the files of a folder in `templates/`. */
const templates = {
  project: { folder: 'broker', files: ['package.json', 'broker.mjs', 'purser.yaml', 'README.md', '.gitignore'] },
  bundle: { folder: 'bundle', files: ['bundle.yml', 'entrypoint.sh', '.gitignore'] },
}

/**
 * Makes a folder with the files of a template, never over a file that exists, and prints their paths. `valuesFor` gives what
 * `{{name}}` and the like stand for. Answers the folder as a person types it, from the current one; empty for that one itself.
 */
export async function writeNewFiles(
  io: CliIo,
  folder: string,
  what: keyof typeof templates,
  valuesFor: (realFolder: string) => Readonly<Record<string, string>>,
): Promise<string> {
  const target = resolve(io.cwd, folder)
  const template = templates[what]
  const existing: string[] = []
  try {
    await mkdir(target, { recursive: true })
    const values = valuesFor(await realpath(target))
    for (const file of template.files) if (await exists(join(target, file))) existing.push(file)
    if (existing.length === 0)
      for (const file of template.files) {
        const text = await readTemplate(template.folder, file, values)
        await writeFile(join(target, file), text, { flag: 'wx', mode: file.endsWith('.sh') ? 0o755 : 0o644 })
      }
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
  io.stdout.write(`${template.files.map(file => join(target, file)).join('\n')}\n`)
  const typed = relative(io.cwd, target)
  return /^[\w./-]*$/.test(typed) ? typed : `'${typed}'`
}

async function readTemplate(folder: string, file: string, values: Readonly<Record<string, string>>): Promise<string> {
  // npm leaves files out that are called .gitignore.
  const text = await readFile(join(packageRoot(), 'templates', folder, file.replace(/^\./, '')), 'utf8')
  return text.replace(/\{\{(\w+)\}\}/g, (found, key) => values[key] ?? found)
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
