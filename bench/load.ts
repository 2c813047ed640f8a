import { connect, type Socket } from 'node:net'

export interface Load {
  readonly port: number
  readonly connections: number
  /** The n-th request, whole. */
  readonly request: (n: number) => Buffer
  /** The status that every answer must have: a wrong one is no result. */
  readonly status: number
  /** Stop after so many milliseconds, or after so many answers. */
  readonly ms?: number
  readonly count?: number
  /** Sleeps while there is nothing to do, where others need its core: a database server. */
  readonly sleeps?: boolean
}

export interface Driven {
  readonly perSecond: number
  readonly answers: number
}

/** Requests in a closed loop over keep-alive connections, one at a time on each. Answers per second. */
export async function drive(load: Load): Promise<Driven> {
  const rest = load.sleeps ? undefined : stayAwake()
  try {
    return await driveAll(load)
  } finally {
    rest?.()
  }
}

/**
 * A client that sleeps has to be woken, and it is the server's write that pays for it. The faster of two servers keeps its client
 * busy and pays less: a rebate that has nothing to do with the servers, and that no client on another machine gives. So ours
 * looks for answers all the time, whoever sends them.
 */
function stayAwake(): () => void {
  let awake = true
  const look = () => {
    if (awake) setImmediate(look)
  }
  look()
  return () => {
    awake = false
  }
}

async function driveAll(load: Load): Promise<Driven> {
  const started = performance.now()
  let sent = 0
  let answers = 0
  const more = () =>
    (load.ms === undefined || performance.now() - started < load.ms) && (load.count === undefined || sent < load.count)
  await Promise.all(
    Array.from({ length: load.connections }, async () => {
      const socket = await open(load.port)
      try {
        await new Promise<void>((resolve, reject) => {
          const next = () => {
            if (!more()) return resolve()
            socket.write(load.request(sent++))
          }
          const read = responseReader(status => {
            if (status !== load.status)
              return reject(new Error(`an answer had the status ${status}, not ${load.status}`))
            answers++
            next()
          })
          socket.on('data', read)
          socket.on('error', reject)
          socket.on('close', () => reject(new Error('the server closed a connection')))
          next()
        })
      } finally {
        socket.removeAllListeners('close')
        socket.destroy()
      }
    }),
  )
  return { perSecond: (answers * 1000) / (performance.now() - started), answers }
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket))
    socket.once('error', reject)
  })
}

/** Finds the end of each response by its Content-Length. Bodies, which may be long, are only counted. */
function responseReader(onResponse: (status: number) => void): (chunk: Buffer) => void {
  let pending: Buffer = Buffer.alloc(0)
  let status = 0
  let left = 0
  return chunk => {
    let rest = chunk
    while (rest.length > 0) {
      if (left === 0) {
        const head = pending.length === 0 ? rest : Buffer.concat([pending, rest])
        const end = head.indexOf('\r\n\r\n')
        pending = end < 0 ? head : Buffer.alloc(0)
        if (end < 0) return
        const text = head.toString('latin1', 0, end)
        status = Number(text.slice(9, 12))
        left = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0)
        rest = head.subarray(end + 4)
      }
      const taken = Math.min(left, rest.length)
      left -= taken
      rest = rest.subarray(taken)
      if (left === 0) onResponse(status)
    }
  }
}
