import { RegistryError } from '../registry-error.ts'
import { showUrl } from './send.ts'

const maxPages = 1000

/** The next page of a list, if its reply names one. Never elsewhere: the credentials are for this server. */
export function nextPage(target: unknown, from: URL): URL | undefined {
  if (typeof target !== 'string') return undefined
  if (!URL.canParse(target, from.href))
    throw new RegistryError(`${showUrl(from)}: the link to the next page is not a URL`)
  const url = new URL(target, from)
  if (url.hostname !== from.hostname) throw new RegistryError(`${showUrl(from)}: the next page is on another server`)
  // Behind a proxy that ends TLS, a server believes that it is asked by http.
  url.protocol = from.protocol
  url.port = from.port
  return url
}

/** The items of all pages. Throws where one page is missing: nobody must take a part for the whole. */
export async function readPages<T>(
  first: URL,
  read: (url: URL) => Promise<{ readonly items: readonly T[]; readonly next?: URL | undefined }>,
): Promise<readonly T[]> {
  const all: T[] = []
  const asked = new Set<string>()
  for (let url: URL | undefined = first; url !== undefined; ) {
    if (asked.has(url.href) || asked.size >= maxPages) throw new RegistryError(`${showUrl(url)}: the list has no end`)
    asked.add(url.href)
    const { items, next } = await read(url)
    for (const item of items) all.push(item)
    url = next
  }
  return all
}
