import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'

/** Whom the provider knows: any password will do, so that the name is the whole login. */
const people: Readonly<Record<string, readonly string[]>> = { ada: ['broker-admins'], bob: ['guests'] }

export interface RunningProvider {
  readonly issuer: string
  /** Answers instead of the provider, where it does. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined
  stop(): void
}

/** A real OpenID provider on a real socket. */
export async function startProvider(redirectUri: string): Promise<RunningProvider> {
  let handle: (request: IncomingMessage, response: ServerResponse) => void = () => {}
  const server = createServer((request, response) => {
    if (running.intercept?.(request, response) !== true) handle(request, response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'purser',
        client_secret: 'pro+vi/der=',
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code'],
      },
    ],
    claims: { openid: ['sub', 'groups'] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    cookies: { keys: ['test'] },
    findAccount: (_: unknown, id: string) =>
      people[id] && { accountId: id, claims: () => ({ sub: id, groups: people[id] }) },
  })
  handle = provider.callback()
  const running: RunningProvider = {
    issuer,
    intercept: undefined,
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
  return running
}

/** What a browser does: keeps cookies by origin, and follows redirects until `stopAt`. */
export function createBrowser() {
  const jar = new Map<string, Map<string, string>>()

  async function open(url: string, init: RequestInit = {}): Promise<Response> {
    const { origin } = new URL(url)
    const own = jar.get(origin) ?? new Map<string, string>()
    jar.set(origin, own)
    const cookie = [...own].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { ...init, redirect: 'manual', headers: { ...init.headers, cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '' || /max-age=0|1970/i.test(line)) own.delete(name)
      else own.set(name, value)
    }
    return response
  }

  return {
    jar,
    open,
    /** Signs in at the provider as `login`; answers where it leads back to. */
    async signIn(start: string, login: string): Promise<string> {
      let response = await open(start)
      for (let hops = 0; hops < 20; hops += 1) {
        const location = response.headers.get('location')
        if (location === null) {
          const page = await response.text()
          const action = /action="([^"]+)"/.exec(page)?.[1]
          const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1]
          if (action === undefined || prompt === undefined)
            throw new Error(`no form: ${response.status} ${page.slice(0, 300)}`)
          const body = new URLSearchParams({ prompt, login, password: 'any' })
          response = await open(new URL(action, response.url).href, { method: 'POST', body })
        } else {
          const next = new URL(location, response.url)
          if (next.pathname === '/console/signed-in') return next.href
          response = await open(next.href)
        }
      }
      throw new Error('the sign-in did not end')
    },
  }
}
