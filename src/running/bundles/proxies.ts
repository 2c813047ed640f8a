/** What the environment says about proxies, in both spellings: programs in sandboxes differ in which one they read. */
export function proxyVariables(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'].flatMap(name => {
      const value = env[name.toLowerCase()] || env[name]
      return value === undefined || value === '' ? [] : [[name, value] as const, [name.toLowerCase(), value] as const]
    }),
  )
}
