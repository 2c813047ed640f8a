import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { connectNode } from '../external/kubernetes.ts'

export interface PodFront {
  readonly host: string
  readonly port: number
  readonly address: string
  stop(): Promise<void>
}

/** The API server of a test cluster may listen on loopback alone: this is a way to it for pods. */
export async function startApiFront(): Promise<PodFront> {
  const { config } = await connectNode()
  return startPodFront(config.getCurrentCluster()?.server ?? '')
}

/** The same for any server of this machine. */
export async function startPodFront(url: string): Promise<PodFront> {
  const { hostname, port } = new URL(url)
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
    host,
    port: found.port,
    address: `${host}:${found.port}`,
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
