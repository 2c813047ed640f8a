/** A tar archive of the inputs, for a program in the pod that unpacks it. */
import { gzipSync } from 'node:zlib'
import type { Layout } from '../inputs.ts'

const block = 512

/** Compressed. Files are readable for everybody in the pod and writable for nobody. */
export function pack({ folders, files }: Pick<Layout, 'folders' | 'files'>): Buffer {
  const parts = [
    ...folders.flatMap(folder => entry(`${folder}/`, '5', 0o755)),
    ...files.flatMap(({ path, text, executable }) => entry(path, '0', executable ? 0o555 : 0o444, text)),
  ]
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * block)]))
}

function entry(path: string, kind: string, mode: number, text = ''): Buffer[] {
  const name = Buffer.from(path)
  // A longer name comes before its entry, as the content of one that is only there for it.
  const long =
    name.length > 99 ? entryOf(Buffer.from('././@LongLink'), 'L', 0, Buffer.concat([name, Buffer.alloc(1)])) : []
  return [...long, ...entryOf(name.subarray(0, 99), kind, mode, Buffer.from(text))]
}

function entryOf(name: Buffer, kind: string, mode: number, content: Buffer): Buffer[] {
  const header = Buffer.alloc(block)
  name.copy(header)
  const octal = (value: number, at: number, length: number) =>
    header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at)
  octal(mode, 100, 8)
  octal(0, 108, 8)
  octal(0, 116, 8)
  octal(content.length, 124, 12)
  octal(0, 136, 12)
  header.write(kind, 156)
  header.write('ustar\0', 257)
  header.write('00', 263)
  header.fill(' ', 148, 156)
  octal(
    header.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  )
  return [header, content, Buffer.alloc((block - (content.length % block)) % block)]
}
