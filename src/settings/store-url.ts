import { isAbsolute, resolve } from 'node:path'
import { revealed, type Sensitive } from '../sensitive/sensitive.ts'
import { findAdapter, sqliteFile } from '../store/schemes.ts'

/** Whether the text names a store. */
export function isStoreUrl(text: string): boolean {
  return text === 'memory' || findAdapter(text) !== undefined
}

/** The same store for a process in any folder: a relative SQLite file is taken from `folder`. */
export function resolveStoreUrl(url: string, folder: string): string {
  // YAML wants quotes around a text that ends with a colon, and few would think of them.
  if (url === 'memory') return 'memory:'
  if (!url.startsWith('sqlite:') || !isStoreUrl(url)) return url
  const file = sqliteFile(url.slice('sqlite:'.length))
  return `sqlite:${isAbsolute(file) ? file : resolve(folder, file)}`
}

/** For logs and messages: without user, password and options. Safe for texts that are no URL at all, too. */
export function maskStoreUrl(given: string | Sensitive<string>): string {
  const url = revealed(given)
  const scheme = /^[a-z+]{1,20}:(\/\/)?/i.exec(url)?.[0] ?? ''
  const at = url.lastIndexOf('@')
  if (at < 0) return withoutOptions(url)
  // A question mark before it may belong to a password as well as to an option: nothing is shown then.
  if (url.slice(0, at).includes('?')) return `${scheme}[hidden]`
  return `${scheme}[hidden]@${withoutOptions(url.slice(at + 1))}`
}

function withoutOptions(url: string): string {
  return url.replace(/\?.*$/s, '?[hidden]')
}
