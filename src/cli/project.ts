import { relative, sep } from 'node:path'

/** How a project in `folder` depends on the purser at `root`: by version from a registry, else by path to the clone. */
export function toDependency(root: string, version: string, folder: string): string {
  if (root.split(sep).includes('node_modules')) return `^${version}`
  const path = relative(folder, root).split(sep).join('/')
  return `file:${path === '' ? '.' : path}`
}

/** A name that npm takes, made from the name of a folder. */
export function toPackageName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[-._]+|[-._]+$/g, '')
  return name === '' || name === 'purser' || name === 'node_modules' ? 'my-broker' : name.slice(0, 200)
}

/** A name that may be part of the name of an image, made from the name of a folder. */
export function toBundleName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
  return name === '' ? 'my-bundle' : name.slice(0, 40).replace(/-+$/, '')
}
