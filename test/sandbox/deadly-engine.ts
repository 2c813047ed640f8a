/** A container engine in front of another one, which ends its caller at a call of choice. */
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { buffer } from 'node:stream/consumers'

export interface DeadlyEngine {
  /** How many calls came. */
  calls(): number
  close(): void
}

export interface Fatal {
  /** Counted from one, or the first of a method. */
  readonly call: number | 'DELETE'
  /** Whether the engine hears of it. */
  readonly when: 'before' | 'after'
}

export async function listenDeadly(
  socket: string,
  engine: string,
  { call, when }: Fatal,
  end: () => void,
): Promise<DeadlyEngine> {
  let calls = 0
  const server = createServer(async (incoming, outgoing) => {
    const { method, url: path, headers } = incoming
    const fatal = ++calls === call || method === call
    if (fatal && when === 'before') return end()
    const sent = request({ socketPath: engine, method, path, headers })
    sent.end(await buffer(incoming))
    sent.once('error', () => outgoing.destroy())
    sent.once('response', async answer => {
      if (fatal) {
        await buffer(answer)
        return end()
      }
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(outgoing)
    })
  }).listen(socket)
  await once(server, 'listening')
  return {
    calls: () => calls,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
