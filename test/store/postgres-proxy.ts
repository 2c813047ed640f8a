/** A network between a store and its server that a test can break. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Proxy {
  /** The server's URL, by way of the proxy. */
  readonly url: string
  /** The answer to what is sent next is lost, with its connection. */
  loseNextAnswer(): void
  /** From now on nothing gets through, and nobody is told. */
  freeze(): void
  thaw(): void
}

export async function startProxy(serverUrl: string): Promise<Proxy> {
  const target = new URL(serverUrl)
  const sockets = new Set<Socket>()
  let losing = false
  let frozen = false

  const server = createServer(client => {
    const upstream = connect(Number(target.port), target.hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      if (frozen) socket.pause()
    }
    const end = () => {
      client.destroy()
      upstream.destroy()
    }
    let mute = false
    client.on('close', end).on('data', data => {
      mute ||= losing
      losing = false
      upstream.write(data)
    })
    upstream.on('close', end).on('data', data => (mute ? end() : client.write(data)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })

  const address = server.address()
  const url = new URL(serverUrl)
  url.port = String(typeof address === 'object' ? address?.port : address)
  return {
    url: url.href,
    loseNextAnswer() {
      losing = true
    },
    freeze() {
      frozen = true
      for (const socket of sockets) socket.pause()
    },
    thaw() {
      frozen = false
      for (const socket of sockets) socket.resume()
    },
  }
}
