import { valueAt } from '../../shape/place.ts'
import { RegistryError } from '../registry-error.ts'
import { nextPage, readPages } from '../web/next-page.ts'
import { showUrl } from '../web/send.ts'
import { jsonOf, listIn, okReply, refusalOf } from '../web/web-client.ts'
import type { OciClient } from './oci-client.ts'

/** The registry is there, and does not tell what it has. */
export class CatalogRefused extends RegistryError {}

/** The names of all repositories. */
export async function listRepositories(client: OciClient): Promise<readonly string[]> {
  await probe(client)
  return readPages(new URL('/v2/_catalog?n=100', client.base), async url => {
    const reply = await client.get(url, { limit: 4 * 1024 * 1024 })
    if ([401, 403, 404, 405].includes(reply.status)) throw new CatalogRefused(refusalOf(reply, url))
    const page = jsonOf(reply, url)
    const isEmpty = valueAt(page, ['repositories']) === null
    const link = linkToNext(reply.headers.link)
    return {
      items: isEmpty ? [] : listIn(page, 'repositories', url).map(String),
      next: link === undefined ? undefined : nextPage(link, url),
    }
  })
}

/** Whether it is a registry at all: a page that any web server might answer with is not an empty list. */
async function probe(client: OciClient): Promise<void> {
  const url = new URL('/v2/', client.base)
  const reply = await client.get(url, { limit: 1024 * 1024 })
  if (reply.status === 404)
    throw new RegistryError(
      `${showUrl(url)}: no registry of the distribution API, version 2, is there; correct the url`,
    )
  okReply(reply, url)
}

function linkToNext(header: string | undefined): string | undefined {
  const links = (header ?? '').split(/,(?=\s*<)/)
  return links.flatMap(link => /^\s*<([^>]*)>[^<]*;\s*rel="?next"?/i.exec(link)?.[1] ?? [])[0]
}
