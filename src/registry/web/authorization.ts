/** Values of an authorization header; undefined where there is nothing to authorize with. */
export function basic(username: string | undefined, password = ''): string | undefined {
  return username === undefined ? undefined : `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

export function bearer(token: string | undefined): string | undefined {
  return token === undefined ? undefined : `Bearer ${token}`
}
