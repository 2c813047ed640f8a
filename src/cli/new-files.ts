import { existsSync } from 'node:fs'
import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { messageOf } from '../shape/thrown.ts'
import { failure, wrongUsage } from './cli-error.ts'
import type { CliIo } from './io.ts'
import { packageRoot } from './package-info.ts'

/** What `purser init` and `purser bundle init` write: files of the folders in `templates/`. */
const shared = ['purser.yaml', 'README.md', '.gitignore'].map(file => ['broker', file] as const)
const sources = ['package.json', 'tsconfig.json', 'src/broker.ts', 'src/notes.ts', 'src/notes.test.ts']
const playbooks = ['provision', 'update', 'bind', 'unbind', 'deprovision']
const ofEveryBundle = ['bundle.yml', 'entrypoint.sh', 'Containerfile', '.gitignore']
const templates = {
  project: [['broker', 'package.json'], ['broker', 'broker.mjs'], ...shared],
  'TypeScript project': [...sources.map(file => ['typescript', file] as const), ...shared],
  bundle: ofEveryBundle.map(file => ['bundle', file] as const),
  'bundle of manifests': ['bundle.yml', '.gitignore'].map(file => ['manifests', file] as const),
  'bundle with Ansible': [
    ...ofEveryBundle,
    ...[...playbooks, 'test'].map(action => `playbooks/${action}.yml`),
    ...playbooks.map(action => `roles/service/tasks/${action}.yml`),
  ].map(file => ['ansible', file] as const),
} satisfies Readonly<Record<string, readonly (readonly [folder: string, file: string])[]>>

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
  let existing: readonly string[]
  try {
    await mkdir(target, { recursive: true })
    const values = valuesFor(await realpath(target))
    existing = template.map(([, file]) => file).filter(file => existsSync(join(target, file)))
    for (const [source, file] of existing.length === 0 ? template : []) {
      const text = await readTemplate(source, file, values)
      await mkdir(dirname(join(target, file)), { recursive: true })
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
  io.stdout.write(`${template.map(([, file]) => join(target, file)).join('\n')}\n`)
  const typed = relative(io.cwd, target)
  return /^[\w./-]*$/.test(typed) ? typed : `'${typed}'`
}

async function readTemplate(folder: string, file: string, values: Readonly<Record<string, string>>): Promise<string> {
  // npm leaves files out that are called .gitignore.
  const text = await readFile(join(packageRoot(), 'templates', folder, file.replace(/^\./, '')), 'utf8')
  return text.replace(/\{\{(\w+)\}\}/g, (found, key) => values[key] ?? found)
}

/** Commands to type now; on stderr, since stdout has the files. */
export function showNextSteps(io: CliIo, steps: readonly string[]): void {
  io.stderr.write(`\nNext:\n${steps.map(step => `  ${step}\n`).join('')}`)
}

/** How a project in `folder` depends on the purser at `root`: by version from a registry, else by path to the clone. */
export function toDependency(root: string, version: string, folder: string): string {
  if (root.split(sep).includes('node_modules')) return `^${version}`
  const path = relative(folder, root).split(sep).join('/')
  return `file:${path === '' ? '.' : path}`
}

/** A name that npm takes, made from the name of a folder. */
export function toPackageName(folder: string): string {
  const name = toName(folder, /[^a-z0-9._-]+/g)
  return name === '' || name === 'purser' || name === 'node_modules' ? 'my-broker' : name.slice(0, 200)
}

/** A name that may be part of the name of an image, made from the name of a folder. */
export function toBundleName(folder: string): string {
  const name = toName(folder, /[^a-z0-9]+/g)
  return name === '' ? 'my-bundle' : name.slice(0, 40).replace(/-$/, '')
}

function toName(folder: string, notAllowed: RegExp): string {
  return basename(folder)
    .toLowerCase()
    .replace(notAllowed, '-')
    .replace(/^[-._]+|[-._]+$/g, '')
}
