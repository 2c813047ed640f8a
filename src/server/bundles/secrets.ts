import { readFile } from 'node:fs/promises'
import { readSource } from '../../bundle/source.ts'
import { isJsonObject, type JsonObject } from '../../protocol/json.ts'
import type { Config } from '../config.ts'

/**
 * What an operator gives to a bundle, by its full name: the entries of all its files, later ones over earlier ones. Read
 * anew each time. Errors name the file and nothing in it.
 */
export function createSecretReader(secrets: Config['bundles']['secrets']): (fullName: string) => Promise<JsonObject> {
  return async fullName => {
    const files = secrets.filter(({ bundle }) => bundle === fullName).map(({ file }) => file)
    return Object.assign({}, ...(await Promise.all(files.map(readSecretFile))))
  }
}

export async function readSecretFile(file: string): Promise<JsonObject> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`the file of secrets ${file} can not be read (${error.code}); correct it, or its path`)
  })
  const source = readSource(text)
  if (source.ok && isJsonObject(source.root.value)) return source.root.value
  throw new Error(`the file of secrets ${file} is no map; write "name: value" lines, or a JSON object`)
}
