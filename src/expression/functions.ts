import { createHash } from 'node:crypto'

// biome-ignore lint/suspicious/noExplicitAny: the library checks the types of the arguments by the signature
export type Functions = Readonly<Record<string, (...args: any[]) => unknown>>

/** What templates need beside the functions of CEL. The reference is docs/reference/manifests.md. */
export const functions: Functions = {
  'dns(string): string': toDnsLabel,
  'hash(string): string': hash,
  'encode(string): string': (text: string) => Buffer.from(text).toString('base64'),
  'decode(string): string': (text: string) => Buffer.from(text, 'base64').toString('utf8'),
}

const longest = 63

/** A name that Kubernetes takes. What had to be changed gets an end of its own, so that two texts never become one name. */
function toDnsLabel(text: string): string {
  const name = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
  if (name === text && name.length <= longest && name !== '') return name
  const end = hash(text)
  const start = name.slice(0, longest - end.length - 1).replace(/-+$/, '')
  return start === '' ? end : `${start}-${end}`
}

/** Twelve letters and digits that stand for the text. */
export function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}
