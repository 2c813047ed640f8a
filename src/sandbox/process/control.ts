/** The line between a sandbox's supervisor and brokers: a socket in its folder. */
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { basename, dirname, join } from 'node:path'
import type { SandboxStatus } from '../../sandbox.ts'
import { readOwner, removed, unless } from '../owner.ts'
import { readExit } from './job.ts'

export interface Control {
  /** Also delivers a cancel that arrived before this call. */
  onCancel(cancel: (graceMs: number) => void): void
  close(): void
}

/** The supervisor's end. `cancel <grace>` on a line is all that can be said to it. */
export async function listenForBrokers(path: string): Promise<Control> {
  const connections = new Set<Socket>()
  let asked: number | undefined
  let cancel = (graceMs: number) => {
    asked = graceMs
  }
  const server = createServer(connection => {
    connections.add(connection)
    let text = ''
    connection.setEncoding('utf8')
    connection.on('data', chunk => {
      text = `${text}${chunk}`.slice(0, 100)
      const [, grace] = /^cancel (\d+)\n/.exec(text) ?? []
      if (grace !== undefined) cancel(Number(grace))
    })
    connection.on('error', () => connection.destroy())
    connection.on('close', () => connections.delete(connection))
  })
  const way = shorten(path)
  server.listen(way.path)
  await once(server, 'listening')
  return {
    onCancel(handler) {
      cancel = handler
      if (asked !== undefined) handler(asked)
    },
    close() {
      // This removes the socket's file too, by the same path.
      server.close(() => way.close())
      for (const connection of connections) connection.destroy()
    },
  }
}

/** A broker's end. The connection ends when the supervisor does. */
async function callSupervisor(path: string): Promise<Socket> {
  const way = shorten(path)
  try {
    const socket = connect(way.path)
    socket.on('error', () => socket.destroy())
    await once(socket, 'connect')
    return socket.resume()
  } finally {
    way.close()
  }
}

interface FoundStatus {
  readonly status: SandboxStatus
  /** Open while the sandbox runs; whoever looked has to close it. */
  readonly line?: Socket
}

/** What a sandbox's folder and its supervisor say. */
export async function findStatus(folder: string): Promise<FoundStatus> {
  // The name of the socket at which the supervisor listens as long as it lives.
  const owner = await readOwner(folder)
  if (owner === undefined || owner === removed) return { status: { kind: 'absent' } }
  const early = await readExit(folder)
  if (early !== undefined) return { status: { kind: 'exited', ...early } }
  try {
    const line = await unless(['ECONNREFUSED', 'ENOENT'], callSupervisor(join(folder, owner)))
    if (line !== undefined) return { status: { kind: 'running' }, line }
  } catch (error) {
    return { status: { kind: 'unknown', reason: error instanceof Error ? error.message : String(error) } }
  }
  // Nobody listens, and nobody will. It may have ended, or have been removed, since the look before.
  const late = await readExit(folder)
  if (late !== undefined) return { status: { kind: 'exited', ...late } }
  if ((await readOwner(folder)) !== owner) return { status: { kind: 'absent' } }
  return { status: { kind: 'lost', reason: 'what watched it was killed, or the machine was restarted' } }
}

const descriptors = '/proc/self/fd'

/** How long a socket's path may be: 108 bytes on Linux, 104 elsewhere, with a zero at the end. */
const longestSocket = 103

/** Whether a socket of this path can be reached from here. */
export function isReachable(path: string): boolean {
  return Buffer.byteLength(path) <= longestSocket || existsSync(descriptors)
}

/** A socket's path may only have some hundred bytes, and folders of users are often longer: Linux has a way around them. */
function shorten(path: string): { readonly path: string; close(): void } {
  if (Buffer.byteLength(path) <= longestSocket || !existsSync(descriptors)) return { path, close: () => {} }
  const folder = openSync(dirname(path), 'r')
  return { path: join(descriptors, String(folder), basename(path)), close: () => closeSync(folder) }
}
