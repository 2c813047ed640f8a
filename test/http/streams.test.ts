import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import express from 'express'
import { fastify } from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { toExpress } from '../../src/http/express.ts'
import { toFastify } from '../../src/http/fastify.ts'
import { listen } from '../../src/http/node.ts'
import { createWorld, type Process, seconds } from '../engine/world.ts'

interface Message {
  readonly event: string
  readonly id: string
  readonly data: Record<string, unknown>
}

interface Reader {
  readonly status: number
  readonly messages: readonly Message[]
  /** What came, as it came. */
  text(): string
  ended(): boolean
  hangUp(): Promise<void>
}

/** Opens a stream, and reads what comes while the test goes on. */
async function open({ url, fetch }: Pick<Process, 'url' | 'fetch'>, path: string, lastId?: string): Promise<Reader> {
  const headers = { accept: 'text/event-stream', ...(lastId !== undefined && { 'last-event-id': lastId }) }
  const response = await fetch(new Request(`${url}${path}`, { headers }))
  const messages: Message[] = []
  let text = ''
  let ended = false
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  async function read() {
    for (;;) {
      const piece = await reader?.read()
      if (piece === undefined || piece.done) break
      text += piece.value
      const fields = Object.fromEntries(
        piece.value.split('\n').map(line => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      )
      if (fields.event !== undefined)
        messages.push({ event: fields.event, id: fields.id ?? '', data: JSON.parse(fields.data ?? '{}') })
    }
    ended = true
  }
  void read()
  return {
    status: response.status,
    messages,
    text: () => text,
    ended: () => ended,
    hangUp: async () => reader?.cancel(),
  }
}

async function boot() {
  const world = createWorld({
    service: {
      async provision({ step }) {
        await step('one', async () => 'a')
        await step('two', async () => {
          if (!fails) return 'b'
          throw new Error('not yet')
        })
      },
    },
  })
  let fails = true
  const broker = await world.boot()
  return {
    world,
    broker,
    works() {
      fails = false
    },
  }
}

const summary = ({ event, data }: Message) =>
  event === 'timeline' ? `${data.type} ${data.name ?? ''} ${data.state ?? ''}`.trim() : `${event} ${data.state}`

describe('GET /admin/operations/:id/timeline as a stream', () => {
  it('tells what happens as it happens, and ends with the operation', async () => {
    const { world, broker, works } = await boot()
    const id = await broker.provision('i')
    await world.clock.advance(0)
    const stream = await open(broker, `/admin/operations/${id}/timeline`)
    await world.clock.advance(seconds(1))
    expect(stream.status).toBe(200)
    expect(stream.messages.map(summary).slice(0, 4)).toEqual([
      'accepted',
      'step one done',
      'step two failed',
      'state queued',
    ])
    works()
    await world.clock.advance(seconds(120))
    expect(stream.ended()).toBe(true)
    expect(stream.messages.slice(-3).map(summary)).toEqual(['step two done', 'succeeded', 'end succeeded'])
    expect(new Set(stream.messages.map(message => JSON.stringify(message))).size).toBe(stream.messages.length)
  })

  it('goes on where a page was cut off, and ends for one that has seen the end', async () => {
    const { world, broker, works } = await boot()
    const id = await broker.provision('i')
    await world.clock.advance(0)
    const first = await open(broker, `/admin/operations/${id}/timeline`)
    await world.clock.advance(0)
    await first.hangUp()
    const { id: place } = first.messages[1] as Message
    works()
    await world.clock.advance(seconds(120))
    const rest = await open(broker, `/admin/operations/${id}/timeline`, place)
    await world.clock.advance(0)
    expect(rest.messages.map(summary)).toEqual(['step two done', 'succeeded', 'end succeeded'])
    const over = await open(broker, `/admin/operations/${id}/timeline`, rest.messages.at(-1)?.id)
    expect(over.status).toBe(204)
  })

  it('works where another process runs the operation', async () => {
    const { world, broker, works } = await boot()
    const idle = await world.boot({ concurrency: 0 })
    const id = await broker.provision('i')
    const stream = await open(idle, `/admin/operations/${id}/timeline`)
    works()
    await world.clock.advance(seconds(120))
    expect(stream.messages.at(-1)).toMatchObject({ event: 'end', data: { operation: id, state: 'succeeded' } })
    expect(stream.ended()).toBe(true)
  })

  it('404 for an operation that nobody knows, as JSON', async () => {
    const { broker } = await boot()
    expect((await open(broker, '/admin/operations/none/timeline')).status).toBe(404)
  })
})

describe('GET /admin/operations/:id/log as a stream', () => {
  it('tells of each run when it has ended', async () => {
    const world = createWorld({
      service: {
        async provision({ step }) {
          await step('collect 1', async () => ({ log: 'hello\nworld', exit: 0, verdict: { kind: 'try-again' } }))
          await step('collect 2', async () => ({ log: 'done', exit: 0, verdict: { kind: 'succeeded' } }))
        },
      },
    })
    const broker = await world.boot()
    const id = await broker.provision('i')
    const stream = await open(broker, `/admin/operations/${id}/log`)
    await world.clock.advance(seconds(5))
    expect(stream.messages.filter(({ event }) => event === 'run').map(({ data }) => data)).toEqual([
      { name: 'collect 1', exit: 0, verdict: 'try-again', log: 'hello\nworld' },
      { name: 'collect 2', exit: 0, verdict: 'succeeded', log: 'done' },
    ])
    expect(stream.messages.at(-1)?.event).toBe('end')
    expect(stream.ended()).toBe(true)
  })
})

describe('GET /admin/events', () => {
  it('tells of operations that change, on any replica, and of what a page has missed', async () => {
    const { world, broker, works } = await boot()
    const idle = await world.boot({ concurrency: 0 })
    const stream = await open(idle, '/admin/events')
    await world.clock.advance(seconds(5))
    expect(stream.messages).toMatchObject([{ event: 'hello' }])
    const id = await broker.provision('i')
    await world.clock.advance(seconds(5))
    const states = () => stream.messages.filter(({ data }) => data.id === id).map(({ data }) => data.state)
    expect(states()).toContain('queued')
    works()
    await world.clock.advance(seconds(120))
    expect(states().at(-1)).toBe('succeeded')
    const { id: place } = stream.messages[0] as Message
    await stream.hangUp()
    const again = await open(broker, '/admin/events', place)
    await world.clock.advance(seconds(1))
    expect(again.messages.map(({ event, data }) => `${event} ${data.state ?? ''}`.trim())).toEqual([
      'hello',
      'operation succeeded',
    ])
  })
})

describe('streams', () => {
  it('say that they are still there while nothing happens', async () => {
    const { world, broker } = await boot()
    const stream = await open(broker, '/admin/events')
    await world.clock.advance(seconds(31))
    expect(stream.text().match(/^: still here$/gm)).toHaveLength(2)
  })

  it('are so many at most; one that is closed leaves its place', async () => {
    const { broker } = await boot()
    const all = []
    for (let n = 0; n < 100; n++) all.push(await open(broker, '/admin/events'))
    expect((await open(broker, '/admin/events')).status).toBe(503)
    expect((await broker.fetch(new Request(`${broker.url}/admin/operations`))).status).toBe(200)
    await all[0]?.hangUp()
    expect((await open(broker, '/admin/events')).status).toBe(200)
  })

  it('end when the process is about to stop', async () => {
    const { broker } = await boot()
    const stream = await open(broker, '/admin/events')
    await broker.stop()
    await expect.poll(() => stream.ended()).toBe(true)
  })

  const host = {
    handle: async () => ({
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      body: '',
      stream: { [Symbol.asyncIterator]: () => endless() },
    }),
    async start() {},
    async close() {},
  }
  let returned = 0
  function endless() {
    return {
      next: async () => {
        await new Promise(resolve => systemClock.after(5, () => resolve(undefined)))
        return { done: false, value: 'data: x\n\n' }
      },
      return: async () => {
        returned += 1
        return { done: true as const, value: undefined }
      },
    }
  }

  it.each([
    ['a server of its own', async () => listen({ app: host.handle, host: '127.0.0.1', port: 0 })],
    [
      'Express',
      async () => {
        const server = express().use(toExpress(host)).listen(0, '127.0.0.1')
        await once(server, 'listening')
        return { port: (server.address() as AddressInfo).port, close: async () => server.close() }
      },
    ],
    [
      'Fastify',
      async () => {
        const app = fastify({ forceCloseConnections: true })
        await app.register(toFastify(host))
        await app.listen({ port: 0, host: '127.0.0.1' })
        return { port: (app.server.address() as AddressInfo).port, close: async () => app.close() }
      },
    ],
  ])('go over the sockets of %s, and a client that is gone ends them', async (_name, start) => {
    returned = 0
    const server: { readonly port: number; close(grace: number): Promise<unknown> } = await start()
    onTestFinished(async () => void (await server.close(0)))
    const socket = connect(server.port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    let received = ''
    socket.on('data', data => {
      received += data
    })
    await expect.poll(() => received).toMatch(/transfer-encoding: chunked[\s\S]*data: x/i)
    expect(received).not.toMatch(/content-length/i)
    socket.destroy()
    await once(socket, 'close')
    await expect.poll(() => returned).toBe(1)
  })
})
