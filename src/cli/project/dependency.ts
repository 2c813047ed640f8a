import { relative, sep } from 'node:path'

/** How a project in `folder` depends on the purser at `root`: by version from a registry, else by path to the clone. */
export function toDependency(root: string, version: string, folder: string): string {
  if (root.split(sep).includes('node_modules')) return `^${version}`
  const path = relative(folder, root).split(sep).join('/')
  return `file:${path === '' ? '.' : path}`
}
