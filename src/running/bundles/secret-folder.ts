import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { SecretReader } from '../../registry.ts'

/**
 * Secrets in a folder: a folder for each, with a file for each entry. That is how Kubernetes mounts a Secret, so one that is
 * named in the configuration is found where it is mounted below this folder. Read anew each time.
 */
export function createSecretFolder(folder: string): SecretReader {
  return {
    async read(name) {
      if (!/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(name)) return undefined
      const path = join(folder, name)
      const names = await readdir(path).catch(absent)
      if (names === undefined) return undefined
      const entries: [string, string][] = []
      // What Kubernetes needs to change a mounted Secret as a whole begins with two dots.
      for (const key of names.filter(candidate => !candidate.startsWith('.'))) {
        const file = join(path, key)
        // A line end is an editor's, and of no password.
        if ((await stat(file)).isFile()) entries.push([key, (await readFile(file, 'utf8')).replace(/\r?\n$/, '')])
      }
      return Object.fromEntries(entries)
    },
  }
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
  return undefined
}
