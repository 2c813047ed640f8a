/** A network between one replica and the servers of the database that can be cut. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Network {
  /** One for each server. */
  readonly ports: readonly number[]
  /** Every connection ends; new ones are let through. */
  cut(): void
  /** From now on nothing gets through, and nobody is told. */
  freeze(): void
  thaw(): void
  close(): Promise<void>
}

export async function createNetwork(ports: readonly number[]): Promise<Network> {
  const sockets = new Set<Socket>()
  let frozen = false

  const join = (port: number) => (client: Socket) => {
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
  }
  const servers = ports.map(port => createServer(join(port)).listen(0, '127.0.0.1'))
  await Promise.all(servers.map(server => once(server, 'listening')))

  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    ports: servers.map(server => (server.address() as AddressInfo).port),
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
      await Promise.all(servers.map(server => once(server.close(), 'close')))
    },
  }
}
