import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { parseJson } from '../protocol/json.ts'
import { codeOf, messageOf } from '../shape/thrown.ts'
import { failure } from './cli-error.ts'

/** The content of a JSON file of ours; undefined if there is no such file. `next` says what to do if it cannot be read. */
export async function readPrivateFile<Content>(
  file: string,
  isContent: (value: unknown) => value is Content,
  next: string,
): Promise<Content | undefined> {
  const unreadable = (why: string) => failure({ what: `${file} cannot be read`, why, next })
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw unreadable(messageOf(error))
  }
  const content = parseJson(text)
  if (isContent(content)) return content
  throw unreadable('its content was not written by this version of purser')
}

/** Replaces the file as a whole. Only its owner can read it. */
export async function writePrivateFile(file: string, content: object): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const draft = `${file}.${process.pid}`
  await writeFile(draft, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 })
  await rename(draft, file)
}
