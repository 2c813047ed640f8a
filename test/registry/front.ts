/** A server before a registry that passes requests on, or does something else with them. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'

export interface Front {
  readonly url: string
  readonly seen: readonly { readonly path: string; readonly authorization: string | undefined }[]
  stop(): Promise<void>
}

/** True: it has been dealt with. */
export type Handler = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean

export async function startFront(port: number, handle: Handler = () => false): Promise<Front> {
  const seen: { path: string; authorization: string | undefined }[] = []
  const server = createServer((incoming, outgoing) => {
    seen.push({ path: incoming.url ?? '', authorization: incoming.headers.authorization })
    if (handle(incoming, outgoing)) return
    const { method, url: path, headers } = incoming
    const onward = request({ host: '127.0.0.1', port, method, path, headers }, reply => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    seen,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
