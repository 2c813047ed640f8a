import { expect, it } from 'vitest'
import type { BrokerEvents } from '../events.ts'
import { fieldsOf, lineKinds, textOf, type Values } from './line-kind.ts'
import { createRequestFormat } from './request-format.ts'

type Request = BrokerEvents['request.ended']

const kind = lineKinds.find(({ event }) => event === 'request.ended')
if (kind === undefined) throw new Error('requests have no line')

const poll: Request = {
  method: 'GET',
  path: '/v2/service_instances/i/last_operation',
  status: 200,
  bytes: 64,
  startedAt: 0,
  durationMs: 1,
  aborted: false,
}
const everything = {
  ...poll,
  route: '/v2/service_instances/:instance_id/last_operation',
  address: '::1',
  principal: 'cf',
  platform: 'eu',
  requestId: 'request-1',
  operationId: 'operation-1',
  error: 'NotFound',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
} satisfies Request
const without = (name: string): Request => ({ ...everything, [name]: undefined })
const odd = '"\\\u2028\ud800\r\n'

it.each<[string, Request]>([
  ['the least', poll],
  ['everything', everything],
  ['aborted', { ...everything, aborted: true }],
  ['odd texts', { ...everything, method: odd, path: odd, principal: odd, platform: odd, requestId: odd, error: odd }],
  ['empty texts', { ...everything, principal: '', platform: '', requestId: '' }],
  ['no path', { ...poll, path: undefined }],
  ['a time that is none', { ...everything, durationMs: Number.NaN }],
  ...Object.keys(everything)
    .filter(name => !(name in poll))
    .map((name): [string, Request] => [`without ${name}`, without(name)]),
])('the line of a request has the fields that lines.ts names: %s', (_, request) => {
  const format = createRequestFormat()
  // What is remembered of the lines before changes nothing.
  for (const before of [everything, poll, request]) format(0, 'info', before)
  const values = request as unknown as Values
  const shown = { level: 'warn', time: '1970-01-01T00:00:01.000Z', event: 'request.ended', ...fieldsOf(kind, values) }
  const line = format(1000, 'warn', request)
  expect(line).toMatch(/^[^\r\n]+\n$/)
  // As JSON writes it: a number that is none is null.
  expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify({ ...shown, msg: textOf(kind, values) })))
})
