import { isJsonObject } from '../../protocol/json.ts'
import { RegistryError } from '../registry-error.ts'
import { nextPage, readPages } from '../web/next-page.ts'
import { showUrl } from '../web/send.ts'
import { jsonOf } from '../web/web-client.ts'
import { type OciClient, refuse } from './oci-client.ts'

/** The registry is there, and does not tell what it has. */
export class CatalogRefused extends RegistryError {}

/** The names of all repositories. */
export async function listRepositories(client: OciClient): Promise<readonly string[]> {
  await probe(client)
  return readPages(new URL('/v2/_catalog?n=100', client.base), async url => {
    const reply = await client.get(url, { limit: 4 * 1024 * 1024 })
    if ([401, 403, 404, 405].includes(reply.status)) throw new CatalogRefused(refuse(url, reply.status).message)
    if (reply.status !== 200) throw refuse(url, reply.status)
    const page = jsonOf(reply, url)
    const list = isJsonObject(page) ? page.repositories : undefined
    if (list !== null && !Array.isArray(list))
      throw new RegistryError(`${showUrl(url)}: the reply is not a list of repositories`)
    const link = linkToNext(reply.headers.link)
    return { items: (list ?? []).map(String), next: link === undefined ? undefined : nextPage(link, url) }
  })
}

/** Whether it is a registry at all: a page that any web server might answer with is no empty list. */
async function probe(client: OciClient): Promise<void> {
  const url = new URL('/v2/', client.base)
  const { status } = await client.get(url, { limit: 1024 * 1024 })
  if (status === 404)
    throw new RegistryError(
      `${showUrl(url)}: no registry of the distribution API, version 2, is there; correct the url`,
    )
  if (status !== 200) throw refuse(url, status)
}

function linkToNext(header: string | undefined): string | undefined {
  const links = (header ?? '').split(/,(?=\s*<)/)
  return links.flatMap(link => /^\s*<([^>]*)>[^<]*;\s*rel="?next"?/i.exec(link)?.[1] ?? [])[0]
}
