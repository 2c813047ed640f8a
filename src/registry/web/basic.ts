/** The value of an authorization header. */
export function basic(username: string, password = ''): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}
