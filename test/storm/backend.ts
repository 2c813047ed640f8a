/**
 * A remote system in a process of its own that is never killed: `backend.ts <settings>`. It knows nothing of fences, so that
 * nobody but the broker keeps a stale caller from doing harm; and what was sent to it happens, whether its caller still
 * lives or not. Its one promise is the one that the sweep counts on: no call has an effect later than twice its timeout.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createRandom } from './random.ts'
import { type BackendCall, type BackendRecord, monotonicNow } from './record.ts'
import type { BackendOrder, BackendSettings, CallRequest } from './settings.ts'

type Fault = 'none' | 'slow' | 'lost' | 'error' | 'hang' | 'refused'

const settings = JSON.parse(process.argv[2] ?? '{}') as BackendSettings
const { callTimeoutMs } = settings
const random = createRandom(settings.seed)
const things = new Map<string, string>()
const calls: BackendCall[] = []
const held = new Map<string, (() => void)[]>()
let faults = false
let latest = 0

const server = createServer((request, response) => {
  void answer(request, response).catch(error => response.destroy(error))
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const address = server.address()
process.once('disconnect', () => process.exit())
process.send?.({ url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}` })

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const body = chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString())
  if (request.url === '/record') return send(response, 200, record())
  if (request.url === '/order') return obey(response, body)
  await serve(response, body)
}

function obey(response: ServerResponse, order: BackendOrder): void {
  if (order.faults !== undefined) faults = order.faults
  if (order.hold !== undefined && !held.has(order.hold)) held.set(order.hold, [])
  if (order.release !== undefined) {
    for (const release of held.get(order.release) ?? []) release()
    held.delete(order.release)
  }
  send(response, 200, {})
}

async function serve(response: ServerResponse, call: CallRequest): Promise<void> {
  const arrivedAt = monotonicNow()
  const fault = faults ? drawFault(call.kind) : 'none'
  const done = (more: Partial<BackendCall>) => calls.push({ ...call, fault, arrivedAt, ...more })
  if (arrivedAt > call.sentAt + callTimeoutMs) {
    done({})
    return send(response, 408, {})
  }
  await pause(delayOf(fault))
  const waiting = held.get(`${call.kind} ${call.name}`)
  if (waiting !== undefined) await new Promise<void>(resolve => waiting.push(resolve))
  const now = monotonicNow()
  const tooLate = call.kind !== 'look' && now > call.sentAt + 1.9 * callTimeoutMs
  if (fault === 'hang' || fault === 'error' || fault === 'refused' || tooLate) {
    done({})
    return fault === 'hang' || tooLate ? void response.destroy() : send(response, fault === 'error' ? 500 : 400, {})
  }
  if (call.kind === 'put') things.set(call.name, call.value ?? '')
  if (call.kind === 'drop') things.delete(call.name)
  // Two effects never have the same time, so that their order can be told from it.
  latest = Math.max(now, latest + 0.001)
  done({ appliedAt: latest, late: response.destroyed || now > call.sentAt + callTimeoutMs })
  if (fault === 'lost') response.destroy()
  else send(response, 200, {})
}

/** Only what creates is refused for good: a deletion that was would be for the backend's operators. */
function drawFault(kind: CallRequest['kind']): Fault {
  return random.weighted<Fault>([
    [76, 'none'],
    [9, 'slow'],
    [5, 'lost'],
    [6, 'error'],
    [2, 'hang'],
    [kind === 'put' ? 2 : 0, 'refused'],
  ])
}

function delayOf(fault: Fault): number {
  if (fault === 'slow') return callTimeoutMs * (1 + 0.8 * random.next())
  if (fault === 'hang') return callTimeoutMs * 4
  return random.chance(0.3) ? random.int(20, 200) : random.int(0, 20)
}

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}

function record(): BackendRecord {
  const waiting = [...held].filter(([, releases]) => releases.length > 0).map(([call]) => call)
  return { things: Object.fromEntries(things), calls, waiting }
}

function send(response: ServerResponse, status: number, body: object): void {
  if (response.destroyed) return
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
