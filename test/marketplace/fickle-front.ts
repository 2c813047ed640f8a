/** A server before a registry whose mood a test decides. It keeps its port while it is down. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { freePort } from '../external/free-port.ts'

/** `cut`: replies to what it is true of end in the middle. */
export type Mood =
  | { readonly kind: 'well' }
  | { readonly kind: 'broken' }
  | { readonly kind: 'silent' }
  | { readonly kind: 'cut'; readonly where: (path: string) => boolean }

export interface FickleFront {
  readonly url: string
  readonly host: string
  /** Paths that were asked for. */
  readonly asked: string[]
  mood: Mood
  down(): Promise<void>
  up(): Promise<void>
}

export async function startFickleFront(behind: number): Promise<FickleFront> {
  const port = await freePort()
  const front: FickleFront = {
    url: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    asked: [],
    mood: { kind: 'well' },
    async down() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
    async up() {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
    },
  }
  const server = createServer((incoming, outgoing) => {
    const { mood } = front
    const path = incoming.url ?? ''
    front.asked.push(path)
    if (mood.kind === 'broken') outgoing.writeHead(500).end('{"errors":[]}')
    else if (mood.kind !== 'silent') passOn(incoming, outgoing, behind, mood.kind === 'cut' && mood.where(path))
  })
  await front.up()
  return front
}

function passOn(incoming: IncomingMessage, outgoing: ServerResponse, port: number, cut: boolean): void {
  const { method, url: path, headers } = incoming
  const onward = request({ host: '127.0.0.1', port, method, path, headers }, reply => {
    outgoing.writeHead(reply.statusCode ?? 502, reply.headers)
    if (!cut) return void reply.pipe(outgoing)
    reply.once('data', (chunk: Buffer) => outgoing.write(chunk.subarray(0, chunk.length / 2), () => outgoing.destroy()))
  })
  onward.on('error', () => outgoing.destroy())
  incoming.pipe(onward)
}
