import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { Keyring } from '../sealing.ts'
import { defaultKeyLabel } from '../settings/encryption.ts'
import type { ReadSettings } from '../settings/settings.ts'
import { messageOf } from '../shape/thrown.ts'
import { createKeyring, type LabelledKey, readKey } from '../store/keyring.ts'
import { StartError } from './start-error.ts'

type Encryption = ReadSettings['encryption']
type KeySource = Encryption['keys'][number]

/** How long a program may take that prints a key. */
const patience = 60_000

/** The keys of the settings, each from where it is; undefined where there are none. Throws a StartError that says which is wrong. */
export async function openKeyring({ key, keys, current }: Encryption): Promise<Keyring | undefined> {
  const sources: readonly KeySource[] = [...keys, ...(key === undefined ? [] : [{ label: defaultKeyLabel, key }])]
  if (sources.length === 0) return undefined
  return createKeyring(await Promise.all(sources.map(openKey)), current)
}

async function openKey(source: KeySource): Promise<LabelledKey> {
  const { label } = source
  const key = readKey((await readSource(source)).trim())
  if (key !== undefined) return { label, key }
  throw refused(label, 'What was found there is not 32 bytes as base64.')
}

async function readSource({ label, key, file, command }: KeySource): Promise<string> {
  if (file !== undefined) return readKeyFile(label, file)
  return command === undefined ? (key?.reveal() ?? '') : runCommand(label, command)
}

async function readKeyFile(label: string, file: string): Promise<string> {
  try {
    const { mode } = await stat(file)
    if ((mode & 0o007) !== 0)
      throw refused(label, `Everybody on this machine can use ${file}.`, `Run "chmod o= ${file}", and start again.`)
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof StartError) throw error
    throw refused(label, `${file} cannot be read: ${messageOf(error)}.`)
  }
}

/** Nothing that it has printed is shown: the key may be in it. */
async function runCommand(label: string, [program = '', ...values]: readonly string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(program, values, { timeout: patience, maxBuffer: 65_536 })
    return stdout
  } catch (error) {
    const { code, signal } = error as { readonly code?: unknown; readonly signal?: unknown }
    throw refused(label, `The program ${program} has failed (${String(code ?? signal)}).`)
  }
}

function refused(label: string, why: string, next = 'Correct encryption.keys, and start again.'): StartError {
  return new StartError(`The encryption key "${label}" cannot be used.`, why, next)
}
