import { constants } from 'node:fs'
import { lstat, open } from 'node:fs/promises'
import { join } from 'node:path'

export type OutputFile =
  | { readonly kind: 'none' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unusable'; readonly problem: string }

/**
 * Reads a file that a bundle left. Its author is not trusted: a link could lead to a secret of the broker, a pipe could
 * hold the reader forever, a huge file could take its memory.
 */
export async function readOutputFile(folder: string, name: string, maxBytes: number): Promise<OutputFile> {
  const opened = await openOutputFile(folder, name)
  if (opened.kind !== 'open') return opened
  const { file } = opened
  try {
    const { size } = await file.stat()
    if (size > maxBytes) return unusable(`${name} has ${size} bytes, and may have ${maxBytes}; write less into it`)
    const buffer = Buffer.alloc(size)
    const { bytesRead } = await file.read(buffer, 0, size, 0)
    try {
      return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, bytesRead)) }
    } catch {
      return unusable(`${name} is not UTF-8 text; write it as such`)
    }
  } finally {
    await file.close()
  }
}

export interface FileEnd {
  readonly text: string
  /** Whether there was more before it. */
  readonly cut: boolean
}

/** The end of a file that may be long, or being written. */
export async function readFileEnd(folder: string, name: string, maxBytes: number): Promise<FileEnd | undefined> {
  const opened = await openOutputFile(folder, name)
  if (opened.kind !== 'open') return undefined
  const { file } = opened
  try {
    const { size } = await file.stat()
    const buffer = Buffer.alloc(Math.min(size, maxBytes))
    const { bytesRead } = await file.read(buffer, 0, buffer.length, Math.max(0, size - maxBytes))
    return { text: buffer.toString('utf8', 0, bytesRead), cut: size > maxBytes }
  } finally {
    await file.close()
  }
}

async function openOutputFile(folder: string, name: string) {
  try {
    if (!(await lstat(folder)).isDirectory()) return unusable(`${name} is behind a link; write into $BUNDLE_OUTPUT`)
    const file = await open(join(folder, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const stat = await file.stat()
    if (stat.isFile() && stat.nlink === 1) return { kind: 'open', file } as const
    await file.close()
    return unusable(`${name} is not a plain file of its own; write one`)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT') return { kind: 'none' } as const
    if (code === 'ELOOP' || code === 'EMLINK')
      return unusable(`${name} is a symbolic link, and links are not followed; write a file`)
    // A socket cannot be opened, and a file may have been left without the right to read it.
    if (code === 'ENXIO' || code === 'EACCES')
      return unusable(`${name} cannot be opened; write a file that can be read`)
    throw error
  }
}

function unusable(problem: string) {
  return { kind: 'unusable', problem } as const
}
