import type { ProxySettings } from '../../registry/web/proxy.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** What the environment says about proxies, in either spelling. */
export function readProxies(env: Environment): ProxySettings {
  const { HTTP_PROXY: httpProxy, HTTPS_PROXY: httpsProxy, NO_PROXY: noProxy } = proxyVariables(env)
  return {
    httpProxy,
    httpsProxy,
    noProxy,
  }
}

/** The same for what runs in a sandbox: programs differ in which spelling they read. */
export function proxyVariables(env: Environment): Readonly<Record<string, string>> {
  return Object.fromEntries(
    ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'].flatMap(name => {
      const value = env[name.toLowerCase()] || env[name]
      return value === undefined || value === '' ? [] : [[name, value] as const, [name.toLowerCase(), value] as const]
    }),
  )
}
