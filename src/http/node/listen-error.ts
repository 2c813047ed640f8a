/** The server could not begin to listen; the message says what to change. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
}
