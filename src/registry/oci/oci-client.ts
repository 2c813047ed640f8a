import type { Clock } from '../../clock.ts'
import type { Credentials } from '../credentials.ts'
import type { WebReply } from '../web/send.ts'
import type { WebClient } from '../web/web-client.ts'
import { createAuthorizer } from './authorize.ts'

/** Asks one registry, with whatever authorization it wants. */
export interface OciClient {
  readonly base: URL
  /** Within a repository; or, where there is none, in the registry as a whole. */
  get(url: URL, options: OciOptions): Promise<WebReply>
}

export interface OciOptions {
  readonly repository?: string
  readonly accept?: string
  readonly limit: number
}

export function createOciClient(
  base: URL,
  credentials: Credentials,
  parts: { readonly web: WebClient; readonly clock: Clock },
): OciClient {
  const authorizer = createAuthorizer(base, credentials, parts)
  return {
    base,
    async get(url, { repository, accept, limit }) {
      const scope = repository === undefined ? 'registry:catalog:*' : `repository:${repository}:pull`
      const ask = async () =>
        parts.web.get(url, { accept, authorization: await authorizer.authorization(scope), limit })
      const reply = await ask()
      if (reply.status !== 401 || !authorizer.learn(scope, reply.headers['www-authenticate'])) return reply
      return ask()
    },
  }
}
