import { RegistryError } from '../registry-error.ts'

const block = 512

/** The first plain file of a tar archive with a wanted name. Names that only the pax format can hold are not looked at. */
export function findInTar(archive: Buffer, wanted: (name: string) => boolean): Buffer | undefined {
  for (let at = 0; at + block <= archive.length; ) {
    const header = archive.subarray(at, at + block)
    if (header.every(byte => byte === 0)) return undefined
    checkSum(header)
    const size = octal(header, 124, 12)
    const end = at + block + size
    if (end > archive.length) throw new RegistryError('the archive is cut off')
    const [prefix, name] = [text(header, 345, 155), text(header, 0, 100)]
    const kind = header[156]
    const isFile = kind === 0 || kind === 0x30
    if (isFile && wanted(prefix === '' ? name : `${prefix}/${name}`)) return archive.subarray(at + block, end)
    at = at + block + Math.ceil(size / block) * block
  }
  return undefined
}

function text(header: Buffer, at: number, length: number): string {
  const field = header.subarray(at, at + length)
  const end = field.indexOf(0)
  return field.subarray(0, end === -1 ? length : end).toString('utf8')
}

function octal(header: Buffer, at: number, length: number): number {
  const digits = text(header, at, length).trim()
  if (!/^[0-7]+$/.test(digits)) throw new RegistryError('the archive is not a tar archive')
  return Number.parseInt(digits, 8)
}

/** The sum of all bytes, with spaces in place of the sum itself. */
function checkSum(header: Buffer): void {
  const sum = header.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 0x20 : byte), 0)
  if (sum !== octal(header, 148, 8)) throw new RegistryError('the archive is not a tar archive')
}
