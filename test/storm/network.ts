/** A network between one replica and the database that can be cut. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export interface Network {
  readonly port: number
  /** Every connection ends; new ones are let through. */
  cut(): void
  /** From now on nothing gets through, and nobody is told. */
  freeze(): void
  thaw(): void
  close(): Promise<void>
}

export async function createNetwork(port: number): Promise<Network> {
  const sockets = new Set<Socket>()
  let frozen = false

  const server = createServer(client => {
    const upstream = connect(port, '127.0.0.1')
    const end = () => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        end()
      })
      if (frozen) socket.pause()
    }
    client.on('data', data => void upstream.write(data))
    upstream.on('data', data => void client.write(data))
    if (frozen) for (const socket of [client, upstream]) socket.pause()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()

  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    cut,
    freeze() {
      frozen = true
      for (const socket of sockets) socket.pause()
    },
    thaw() {
      frozen = false
      for (const socket of sockets) socket.resume()
    },
    async close() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
