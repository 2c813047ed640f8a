// Many clients in a process of their own that ask for instances one after the other and never pause, whatever they are told.
// `flood.mjs <options as JSON>`; says `open` when all are connected, begins when it is told to, and then says what happened.
import { connect } from 'node:net'

const { port, connections, ms, headers, body } = JSON.parse(process.argv[2] ?? '{}')
const statuses = {}
const accepted = []
const times = []
let untimed = 0
let broken = 0
let sent = 0

function toWire(id) {
  const lines = [`PUT /v2/service_instances/${id}?accepts_incomplete=true HTTP/1.1`, 'host: 127.0.0.1']
  for (const [name, value] of Object.entries({ ...headers, 'content-length': Buffer.byteLength(body) }))
    lines.push(`${name}: ${value}`)
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

/** A connection that the server has taken, and not only the system that it runs on. */
function open() {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    socket.once('error', reject)
    socket.once('data', () => resolve(socket))
    socket.write('GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n')
  })
}

/** One request after the other until the time is over; resolves when the last answer is there. */
function ask(socket, until) {
  return new Promise(resolve => {
    let id = ''
    let from = 0
    let text = ''
    const next = () => {
      if (performance.now() >= until) return resolve()
      id = `flood-${sent++}`
      from = performance.now()
      socket.write(toWire(id))
    }
    socket.setEncoding('latin1')
    socket.on('data', chunk => {
      text += chunk
      const end = text.indexOf('\r\n\r\n')
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0)
      if (end < 0 || text.length < end + 4 + length) return
      note(text.slice(0, end), text.slice(end + 4), id, performance.now() - from)
      text = ''
      next()
    })
    socket.on('close', () => {
      broken++
      resolve()
    })
    next()
  })
}

function note(head, answer, id, time) {
  const status = head.slice(9, 12)
  statuses[status] = (statuses[status] ?? 0) + 1
  if (status === '503' && !/\r\nretry-after: [1-9]\d*(\r|$)/i.test(head)) untimed++
  if (status !== '202') return
  times.push(time)
  accepted.push([id, JSON.parse(answer).operation])
}

const sockets = []
// A few at a time: this is about requests, and not about how fast connections can be made.
while (sockets.length < connections)
  sockets.push(...(await Promise.all(Array.from({ length: Math.min(200, connections - sockets.length) }, open))))
process.send?.('open')
process.once('message', async () => {
  const until = performance.now() + ms
  await Promise.all(sockets.map(socket => ask(socket, until)))
  for (const socket of sockets) socket.removeAllListeners('close').destroy()
  times.sort((one, other) => one - other)
  const told = { statuses, accepted, untimed, broken, p99: times[Math.floor(times.length * 0.99)] ?? 0 }
  // It is long: what is not written yet when the channel is closed is lost.
  process.send?.(told, () => process.disconnect?.())
})
