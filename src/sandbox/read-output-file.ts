import { constants } from 'node:fs'
import { type FileHandle, lstat, open } from 'node:fs/promises'
import { join } from 'node:path'
import { isCode } from './owner.ts'

/** Neither where there is no file. */
export interface OutputFile {
  readonly text?: string
  readonly problem?: string
}

/** Reads the end of a file that a bundle left, wherever that is. */
export type ReadEnd = (name: string, maxBytes: number) => Promise<End>

export function inFolder(folder: string): ReadEnd {
  return (name, maxBytes) => readEnd(folder, name, maxBytes)
}

/** A file of a bundle as text. One that is too long, or is not text, is a problem. */
export async function readOutputFile(read: ReadEnd, name: string, maxBytes: number): Promise<OutputFile> {
  const { bytes, size = 0, problem } = await read(name, maxBytes)
  if (bytes === undefined) return { problem }
  if (size > maxBytes) return { problem: `${name} has ${size} bytes, and may have ${maxBytes}; write less into it` }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    return { problem: `${name} is not UTF-8 text; write it as such` }
  }
}

export interface FileEnd {
  readonly text: string
  /** Whether there was more before it. */
  readonly cut: boolean
}

/** The end of a file that may be long, or being written. */
export async function readFileEnd(read: ReadEnd, name: string, maxBytes: number): Promise<FileEnd | undefined> {
  const { bytes, size = 0 } = await read(name, maxBytes)
  return bytes && { text: Buffer.from(bytes).toString(), cut: size > maxBytes }
}

/** Nothing where there is no file. */
export interface End {
  readonly bytes?: Uint8Array
  /** Of the whole file. */
  readonly size?: number
  readonly problem?: string
}

/** Why a file is not read, by what it is. */
export const unreadable = {
  link: (name: string) => `${name} is a symbolic link, and links are not followed; write a file`,
  other: (name: string) => `${name} is not a plain file of its own; write one`,
  closed: (name: string) => `${name} cannot be opened; write a file that can be read`,
}

/**
 * Reads a file that a bundle left. Its author is not trusted: a link could lead to a secret of the broker, a pipe could
 * hold the reader forever, a huge file could take its memory.
 */
async function readEnd(folder: string, name: string, maxBytes: number): Promise<End> {
  let file: FileHandle | undefined
  try {
    if (!(await lstat(folder)).isDirectory()) return { problem: `${name} is behind a link; write into $BUNDLE_OUTPUT` }
    file = await open(join(folder, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const stat = await file.stat()
    if (!stat.isFile() || stat.nlink !== 1) return { problem: unreadable.other(name) }
    const buffer = Buffer.alloc(Math.min(stat.size, maxBytes))
    const { bytesRead } = await file.read(buffer, 0, buffer.length, Math.max(0, stat.size - maxBytes))
    return { bytes: buffer.subarray(0, bytesRead), size: stat.size }
  } catch (error) {
    if (isCode(error, 'ENOENT')) return {}
    if (isCode(error, 'ELOOP', 'EMLINK')) return { problem: unreadable.link(name) }
    // A socket cannot be opened, and a file may have been left without the right to read it.
    if (isCode(error, 'ENXIO', 'EACCES')) return { problem: unreadable.closed(name) }
    throw error
  } finally {
    await file?.close()
  }
}
