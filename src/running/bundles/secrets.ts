import { readdir, readFile, stat } from 'node:fs/promises'
import { join, parse } from 'node:path'
import { readSource } from '../../bundle/source.ts'
import { isJsonObject, type JsonObject } from '../../protocol/json.ts'
import type { SecretReader } from '../../registry.ts'
import { unless } from '../../sandbox/owner.ts'
import type { NamedSecret } from '../../sandbox.ts'
import type { ConfigSettings } from '../../settings/config.ts'

/**
 * What an operator gives to a bundle, by its full name: all its files and secrets. A file is named by what its name has before
 * the ending. Read anew each time. Errors name the file or the secret and nothing in it.
 */
export function createSecretReader(
  secrets: ConfigSettings['bundles']['secrets'],
  folder: SecretReader,
): (fullName: string) => Promise<readonly NamedSecret[]> {
  const read = async ({ file, secret = '' }: ConfigSettings['bundles']['secrets'][number]): Promise<NamedSecret> => {
    if (file !== undefined) return { name: parse(file).name, entries: await readSecretFile(file) }
    const entries = await folder.read(secret, new AbortController().signal)
    if (entries === undefined)
      throw new Error(`there is no secret "${secret}" in bundles.secretsFolder; create it, or correct the name`)
    return { name: secret, entries }
  }
  return fullName => Promise.all(secrets.filter(({ bundle }) => bundle === fullName).map(read))
}

export async function readSecretFile(file: string): Promise<JsonObject> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`the file of secrets ${file} cannot be read (${error.code}); correct it, or its path`)
  })
  const read = readSource(text)
  if (read.ok && isJsonObject(read.source.root)) return read.source.root
  throw new Error(`the file of secrets ${file} is not a map; write "name: value" lines, or a JSON object`)
}

/**
 * Secrets in a folder: a folder for each, with a file for each entry. That is how Kubernetes mounts a Secret, so one that is
 * named in the configuration is found where it is mounted below this folder. Read anew each time.
 */
export function createSecretFolder(folder: string): SecretReader {
  return {
    async read(name) {
      if (!/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(name)) return undefined
      const path = join(folder, name)
      const names = await unless(['ENOENT', 'ENOTDIR'], readdir(path))
      if (names === undefined) return undefined
      const entries: [string, string][] = []
      // What Kubernetes needs to change a mounted Secret as a whole begins with two dots.
      for (const key of names.filter(candidate => !candidate.startsWith('.'))) {
        const file = join(path, key)
        // A line end comes from an editor, and is not part of a password.
        if ((await stat(file)).isFile()) entries.push([key, (await readFile(file, 'utf8')).replace(/\r?\n$/, '')])
      }
      return Object.fromEntries(entries)
    },
  }
}
