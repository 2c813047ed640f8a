import { RegistryError } from '../registry-error.ts'

/** As in the environment; empty is absent. */
export interface ProxySettings {
  readonly HTTP_PROXY?: string
  readonly HTTPS_PROXY?: string
  /** Hosts with commas between them: `*`, `example.com` and what is below it, `.example.com`, `host:port`. */
  readonly NO_PROXY?: string
}

/** The proxy for a URL; undefined where it is reached directly. Throws where the setting does not begin with http://. */
export function proxyFor(url: URL, proxy: ProxySettings): URL | undefined {
  const setting = url.protocol === 'https:' ? proxy.HTTPS_PROXY : proxy.HTTP_PROXY
  if (setting === undefined || setting === '' || isLoopback(url.hostname) || isExempt(url, proxy.NO_PROXY ?? ''))
    return undefined
  const written = setting.includes('://') ? setting : `http://${setting}`
  if (!URL.canParse(written) || new URL(written).protocol !== 'http:')
    throw new RegistryError(`the proxy for ${url.protocol}// must be a URL that begins with http://`)
  return new URL(written)
}

function isExempt(url: URL, noProxy: string): boolean {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  return noProxy
    .split(',')
    .map(entry => entry.trim().toLowerCase())
    .some(entry => {
      if (entry === '') return false
      if (entry === '*') return true
      const [, host = entry, only] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? []
      if (only !== undefined && only !== port) return false
      const domain = host.replace(/^\*?\./, '')
      return url.hostname === domain || url.hostname.endsWith(`.${domain}`)
    })
}

/** No proxy can reach what only this machine can. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)
}
