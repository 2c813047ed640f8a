import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { connectNode } from '../external/kubernetes.ts'

/** The API server of a test cluster may listen on loopback alone: this is a way to it for pods. */
export async function startApiFront(): Promise<{ readonly address: string; stop(): Promise<void> }> {
  const { config } = await connectNode()
  const { hostname, port } = new URL(config.getCurrentCluster()?.server ?? '')
  const sockets = new Set<{ destroy(): void }>()
  const server = createServer(socket => {
    const other = connect(Number(port), hostname)
    for (const each of [socket, other]) {
      sockets.add(each)
      each.on('error', () => undefined)
      each.on('close', () => {
        socket.destroy()
        other.destroy()
      })
    }
    socket.pipe(other).pipe(socket)
  }).listen(0, '0.0.0.0')
  await once(server, 'listening')
  const found = server.address()
  const outside = Object.values(networkInterfaces()).flatMap(each => each ?? [])
  const host = outside.find(({ family, internal }) => family === 'IPv4' && !internal)?.address
  if (host === undefined || found === null || typeof found === 'string') throw new Error('no address for pods')
  return {
    address: `${host}:${found.port}`,
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
