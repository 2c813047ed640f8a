import type { BrokerEvents } from '../events.ts'
import { traceIdOf } from '../tracer.ts'
import type { LogLevel } from './lines.ts'
import { inOnePiece, rememberFirst } from './remember.ts'
import { mostRemembered, toJson, toTime } from './texts.ts'

type Request = BrokerEvents['request.ended']

/**
 * The line of a request in JSON: the fields that lines.ts names, in another order. Nearly all lines are of requests, and to read
 * fields by their names from a list takes longer. What a client has in each of its requests is put together once in a row.
 */
export function createRequestFormat(): (at: number, level: LogLevel, request: Request) => string {
  const toStart = createStart()
  const toShared = createShared()
  const toDuration = remember('durationMs')
  return (at, level, request) => {
    const { path, durationMs, requestId, operationId, error, traceparent } = request
    let line = toStart(at, level) + toShared(request) + toDuration(durationMs) + toField('path', path)
    line += toField('requestId', requestId) + toField('operationId', operationId) + toField('error', error)
    if (traceparent !== undefined) line += toField('trace', traceIdOf(traceparent))
    return line + (request.aborted ? ',"msg":"request aborted"}\n' : ',"msg":"request"}\n')
  }
}

function createStart(): (at: number, level: LogLevel) => string {
  let lastAt = Number.NaN
  let lastLevel: LogLevel | undefined
  let start = ''
  return (at, level) => {
    if (at !== lastAt || level !== lastLevel) {
      lastAt = at
      lastLevel = level
      start = inOnePiece(`{"level":"${level}","time":"${toTime(at)}","event":"request.ended"`)
    }
    return start
  }
}

/** Who asked, how, and the kind of answer: many requests in a row have the same. */
function createShared(): (request: Request) => string {
  const toMethod = remember('method')
  const toStatus = remember('status')
  const toBytes = remember('bytes')
  const toAddress = remember('address')
  const toPrincipal = remember('principal')
  const toPlatform = remember('platform')
  let last: Partial<Request> = {}
  let shared = ''
  let isOnePiece = false
  return request => {
    const { method, status, bytes, address, principal, platform } = request
    const isRepeated =
      method === last.method &&
      status === last.status &&
      bytes === last.bytes &&
      address === last.address &&
      principal === last.principal &&
      platform === last.platform
    if (!isRepeated) {
      shared = toMethod(method) + toStatus(status) + toBytes(bytes)
      shared += toAddress(address) + toPrincipal(principal) + toPlatform(platform)
      last = request
    } else if (!isOnePiece) shared = inOnePiece(shared)
    isOnePiece = isRepeated
    return shared
  }
}

function remember(name: keyof Request): (value: string | number | undefined) => string {
  return rememberFirst(mostRemembered, (value: string | number | undefined) => toField(name, value))
}

function toField(name: string, value: string | number | undefined): string {
  return value === undefined ? '' : `,"${name}":${toJson(value)}`
}
