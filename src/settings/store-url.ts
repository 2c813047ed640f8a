import { isAbsolute, resolve } from 'node:path'

export const storeSchemes = ['memory:', 'sqlite:', 'postgres:', 'postgresql:', 'mongodb:', 'mongodb+srv:'] as const

export const allowedStores = 'memory:, sqlite:<file>, postgres://… or mongodb://…'

/** Whether the text names a store; what stands behind the scheme is the store's affair. */
export function isStoreUrl(text: string): boolean {
  if (text === 'memory' || text === 'memory:') return true
  const scheme = storeSchemes.find(candidate => text.startsWith(candidate))
  if (scheme === undefined || scheme === 'memory:') return false
  const rest = text.slice(scheme.length)
  return scheme === 'sqlite:' ? sqliteFile(rest) !== '' && !rest.startsWith(':') : /^\/\/./.test(rest)
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
export function maskStoreUrl(url: string): string {
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

/** `sqlite:a.db`, `sqlite:/a.db` and `sqlite:///a.db`. */
function sqliteFile(rest: string): string {
  return rest.startsWith('//') ? rest.slice(2) : rest
}
