import { connect, type Socket } from 'node:net'

/** One answer as it stood on the wire. */
export interface Answer {
  readonly status: number
  /** Names in lower case; the last one of equal names. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The body as JSON; undefined where it is none. */
  readonly body: unknown
}

export interface RawRequest {
  readonly method: string
  /** Goes on the wire as it is, a character a byte where it is below 256: no client tidies it up. */
  readonly path: string
  readonly headers?: readonly (readonly [name: string, value: string])[]
  readonly body?: string | Uint8Array
  /** Bytes per chunk; without it the body is sent with its length. */
  readonly chunked?: number
}

const usual: readonly (readonly [name: string, value: string])[] = [
  ['Host', 'broker.test'],
  ['X-Broker-API-Version', '2.17'],
  ['Content-Type', 'application/json'],
]

/** Sends one request with a platform's usual headers, unless it brings its own, and reads the answer. */
export async function send(port: number, request: RawRequest): Promise<Answer> {
  const own = new Set(request.headers?.map(([name]) => name.toLowerCase()))
  const headers = [...usual.filter(([name]) => !own.has(name.toLowerCase())), ...(request.headers ?? [])]
  const wire = toWire({ ...request, headers: [...headers, ['Connection', 'close']] })
  const [answer] = parseAnswers(await exchange(port, wire), request.method === 'HEAD')
  if (answer === undefined) throw new Error(`${request.method} ${request.path.slice(0, 100)}: no answer`)
  return answer
}

/** Writes bytes to a connection of its own and collects what comes back until the server ends it. */
export function exchange(port: number, wire: Uint8Array, then?: (socket: Socket) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const received: Buffer[] = []
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    socket.on('data', data => received.push(data))
    // A server that has answered may cut off what is still being sent.
    socket.on('error', error => (received.length === 0 ? reject(error) : resolve(Buffer.concat(received))))
    socket.on('end', () => socket.destroy())
    socket.on('close', () => resolve(Buffer.concat(received)))
    socket.write(wire, () => then?.(socket))
  })
}

export function toWire({ method, path, headers = [], body = '', chunked }: RawRequest): Buffer {
  const bytes = Buffer.from(body)
  const framing =
    chunked !== undefined
      ? ['Transfer-Encoding: chunked']
      : bytes.length > 0 || method === 'PUT' || method === 'PATCH'
        ? [`Content-Length: ${bytes.length}`]
        : []
  const lines = [`${method} ${path} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`), ...framing]
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  return Buffer.concat([head, ...(chunked === undefined ? [bytes] : toChunks(bytes, chunked))])
}

function toChunks(bytes: Buffer, size: number): Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0; at < bytes.length; at += size) {
    const chunk = bytes.subarray(at, at + size)
    chunks.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'))
  }
  return [...chunks, Buffer.from('0\r\n\r\n')]
}

/** All answers of a connection in their order. `bodiless`: they answer HEAD, so that their length announces nothing. */
export function parseAnswers(wire: Buffer, bodiless = false): readonly Answer[] {
  const answers: Answer[] = []
  let rest = wire
  while (rest.length > 0) {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) throw new Error(`cut off: ${rest.toString('latin1')}`)
    const [first = '', ...fields] = rest.subarray(0, end).toString('latin1').split('\r\n')
    const headers = Object.fromEntries(fields.map(toField))
    const length = bodiless ? 0 : Number(headers['content-length'] ?? 0)
    const text = rest.subarray(end + 4, end + 4 + length).toString('utf8')
    const status = Number(first.split(' ')[1])
    if (status !== 100) answers.push({ status, headers, text, body: parse(text) })
    rest = rest.subarray(end + 4 + length)
  }
  return answers
}

function toField(line: string): [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
