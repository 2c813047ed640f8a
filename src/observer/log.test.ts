import { spawnSync } from 'node:child_process'
import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { TerminalError } from '../engine/errors.ts'
import type { BrokerEvents, LogFields } from '../events.ts'
import type { Observer } from '../observer.ts'
import { BrokerError } from '../protocol/errors.ts'
import { sensitive } from '../sensitive/sensitive.ts'
import { createVirtualClock } from '../testing/virtual-clock.ts'
import { createLogObserver, type LogFormat, type LogLevel } from './log.ts'

const canary = 'canary-7f3a'

describe.each<LogFormat>(['json', 'people'])('createLogObserver, %s', format => {
  it('prints no sensitive value, wherever it stands and whatever it is called', async () => {
    const secret = sensitive(canary)
    const deep = { in: [{ deep: secret }] } as never
    const cause = { size: secret }
    const text = await logged(format, observer => {
      observer['author.log']?.(
        written({ size: secret, deep, text: `${secret}`, error: new Error(`${secret}`, { cause }) }),
      )
      observer['author.log']?.(written({ state: 'ready', password: 'of nobody' }))
    })
    expect(text).not.toContain(canary)
    expect(text.match(/\[redacted\]/g)).toHaveLength(5)
    // Nothing is hidden by its name.
    expect(text).toMatch(/ready.*of nobody/)
  })

  it('prints nothing below its level', async () => {
    const text = await logged(
      format,
      observer => {
        observer['registry.available']?.({ registry: 'too little' })
        observer['registry.unavailable']?.({ registry: 'enough' })
        observer['chore.failed']?.({
          chore: 'more than enough',
          durationMs: 1,
          error: new BrokerError('NotFound', 'x'),
        })
        for (const status of [200, 401, 503]) observer['request.ended']?.(request({ status }))
      },
      'warn',
    )
    expect(text).not.toContain('too little')
    expect(text.trim().split('\n')).toHaveLength(3)
  })

  it('prints a stack only for errors that nobody planned for', async () => {
    const planned = await logged(format, observer =>
      observer['server.failed']?.({ error: new BrokerError('NotFound', 'no such') }),
    )
    expect(planned).toContain('NotFound')
    expect(planned).toContain('no such')
    expect(planned).not.toContain('log.test.ts')
    const unplanned = await logged(format, observer => observer['server.failed']?.({ error: new TypeError('oops') }))
    expect(unplanned).toContain('oops')
    expect(unplanned).toContain('log.test.ts')
  })

  it('prints causes of any kind, the errors of an AggregateError, and where the deepest cause was made', async () => {
    const deepest = new Error('ECONNREFUSED', {
      cause: { why: 'disk full', key: sensitive(canary), deep: { token: sensitive(canary) } },
    })
    deepest.stack = 'Error: ECONNREFUSED\n    at deep (deep.js:1:1)'
    const many = new AggregateError(
      [new Error('::1'), 'refused', ...Array.from({ length: 9 }, () => 'x')],
      'all failed',
    )
    many.errors.push(many)
    const text = await logged(format, observer => {
      observer['server.failed']?.({ error: new TypeError('top', { cause: new Error('middle', { cause: deepest }) }) })
      observer['server.failed']?.({ error: new TypeError('other', { cause: many }) })
      observer['server.failed']?.({ error: many })
    })
    const plain = text.replaceAll('\\', '')
    expect(plain).toContain('middle, because ECONNREFUSED, because {"why":"disk full","key":"[redacted]"')
    expect(plain).toContain('deep.js:1:1')
    expect(plain.match(/all failed \[::1; refused; x; x; x; 7 more\]/g)).toHaveLength(2)
    expect(plain).not.toContain(canary)
  })

  it('prints the stack of a TerminalError of an author, and not that of the broker itself', async () => {
    const own = `TerminalError: x\n    at attempt (${import.meta.url})\n    at async (node:internal/process/task_queues:1:1)`
    const [author, broker] = [new TerminalError('sold out'), new TerminalError('the bundle failed')]
    author.stack = `${own}\n    at provision (/app/services/db.js:7:9)`
    broker.stack = own
    const text = await logged(format, observer => {
      observer['server.failed']?.({ error: author })
      observer['server.failed']?.({ error: broker })
    })
    expect(text).toContain('db.js:7:9')
    expect(text).not.toMatch(/log\.test\.ts|task_queues/)
  })

  it('prints whatever an author without types logs', async () => {
    const circular: Record<string, unknown> = {}
    circular.self = circular
    const fields = {
      o: { deep: 1, odd: sensitive(canary) },
      none: null,
      big: 10n,
      long: { text: 'x'.repeat(9000) },
      circular,
    }
    const text = await logged(format, observer =>
      observer['author.log']?.({ ...written(fields as never), message: { not: 'a text' } as never }),
    )
    expect(text.replaceAll('\\', '')).toContain('{"deep":1,"odd":"[redacted]"}')
    // JSON is ASCII, and means the same.
    expect(text.replace('\\u2026', '…')).toMatch(/null.*10.*x….*cannot be written as JSON/)
    expect(text).toContain('[object Object]')
    expect(text.length).toBeLessThan(3000)
  })

  it('keeps what a client sent on one line', async () => {
    const path = '/x\r\n2026 ERROR fake\u001b[31m'
    const text = await logged(format, observer => observer['request.ended']?.(request({ path, requestId: path })))
    expect(text.trimEnd().split(/[\r\n]/)).toHaveLength(1)
    expect(text).not.toContain('\u001b')
  })
})

describe('the formats', () => {
  it('json: one object with time, level, event, fields and msg', async () => {
    const text = await logged('json', observer =>
      observer['store.migrated']?.({ store: 'postgres://db', migrations: 2 }),
    )
    expect(JSON.parse(text)).toEqual({
      level: 'info',
      time: '1970-01-01T00:00:01.000Z',
      event: 'store.migrated',
      store: 'postgres://db',
      migrations: 2,
      msg: 'brought the schema up to date',
    })
  })

  it('json: whatever characters a value has, and fields of authors that are called as ours', async () => {
    const odd = ['"', '\\', '\u007f', '\u2028', '\ud800', 'ü', '/a?b=c&d', '', '\t', '~}]["'].join(' ')
    const text = await logged('json', observer => {
      observer['request.ended']?.(request({ path: odd, principal: odd, durationMs: Number.NaN, requestId: '' }))
      observer['author.log']?.({ ...written({ level: 'mine', msg: 'mine', 'a "b"': 1 }), message: odd })
    })
    const [asked, said] = text
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(asked).toMatchObject({ event: 'request.ended', path: odd, principal: odd, requestId: '', durationMs: null })
    expect(said).toMatchObject({ event: 'author.log', level: 'mine', msg: odd, 'a "b"': 1, action: 'bind' })
  })

  it('json: each line has its own values, whatever stands in the line before', async () => {
    const first = { method: 'GET', status: 200, bytes: 1, address: '::1', principal: 'cf', platform: 'eu' }
    const second = {
      method: 'PUT',
      status: 202,
      bytes: 2,
      address: '::2',
      principal: 'k8s',
      platform: 'us',
      aborted: true,
    }
    const third = { ...first, principal: undefined, status: 500 }
    const text = await logged('json', observer => {
      for (const more of [first, second, third, first]) observer['request.ended']?.(request(more))
    })
    const written = text
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
    const rest = { time: '1970-01-01T00:00:01.000Z', event: 'request.ended', path: '/v2/catalog', durationMs: 2 }
    const { aborted, ...shown } = second
    expect(written).toEqual([
      { ...rest, ...first, level: 'info', msg: 'request' },
      { ...rest, ...shown, level: 'info', msg: 'request aborted' },
      { ...rest, ...third, level: 'warn', msg: 'request' },
      { ...rest, ...first, level: 'info', msg: 'request' },
    ])
  })

  it('people: time, level, text, key=value', async () => {
    const error = new BrokerError('StoreUnavailable', 'full', { cause: new Error('ENOSPC') })
    const text = await logged('people', observer => {
      observer['registry.unavailable']?.({ registry: 'a1', problem: 'too slow' })
      observer['registry.unavailable']?.({ registry: '' })
      observer['server.failed']?.({ error })
      observer['request.ended']?.(request({ principal: 'cf' }))
    })
    expect(text).toBe(
      '1970-01-01T00:00:01.000Z WARN  a registry does not answer registry=a1 problem="too slow"\n' +
        '1970-01-01T00:00:01.000Z WARN  a registry does not answer registry=""\n' +
        '1970-01-01T00:00:01.000Z ERROR the HTTP server reported an error error="StoreUnavailable: full (because: ENOSPC)"\n' +
        '1970-01-01T00:00:01.000Z INFO  request method=GET path=/v2/catalog status=200 durationMs=2 bytes=10 principal=cf\n',
    )
  })
})

describe('the options', () => {
  it('are json and info unless told otherwise; others are refused', async () => {
    const written: string[] = []
    const stream = { write: (line: string) => void written.push(line) }
    createLogObserver({ stream })['broker.stopped']?.({})
    createLogObserver({ stream, format: 'people' })['broker.stopped']?.({})
    await new Promise(resolve => setImmediate(resolve))
    expect(written.join('')).toMatch(/^\{.*\}\n.* INFO {2}stopped\n$/)
    expect(() => createLogObserver({ format: 'text' as never })).toThrow('"json" or "people", not "text"')
    expect(() => createLogObserver({ level: 'debug' as never })).toThrow('"info", "warn" or "error", not "debug"')
  })
})

describe('a stream that fails', () => {
  it('costs lines, not the process', async () => {
    const stream = new Writable({ write: (_line, _encoding, done) => done(new Error('EPIPE')) })
    const observers = [1, 2].map(() => createLogObserver({ format: 'json', level: 'info', stream }))
    const failed = new Promise(resolve => stream.once('close', resolve))
    for (const observer of observers) observer['broker.stopped']?.({})
    await failed
    for (const observer of observers) expect(() => observer['broker.stopped']?.({})).not.toThrow()
    expect(stream.listenerCount('error')).toBe(1)
  })

  it('may throw', async () => {
    const write = () => {
      throw new Error('ENOSPC')
    }
    const observer = createLogObserver({ format: 'people', level: 'info', stream: { write } })
    expect(() => observer['broker.stopped']?.({})).not.toThrow()
    expect(() => observer['chore.lost']?.({ chore: 'purge' })).not.toThrow()
    await new Promise(resolve => setImmediate(resolve))
  })
})

describe('writes', () => {
  it('are one for many lines of a turn; warnings are written at once, after what came before them', async () => {
    const writes: string[] = []
    const stream = { write: (text: string) => writes.push(text) }
    const observer = createLogObserver({ format: 'json', level: 'info', stream })
    for (let line = 0; line < 3; line += 1) observer['broker.stopped']?.({})
    expect(writes).toEqual([])
    await new Promise(resolve => setImmediate(resolve))
    expect(writes.map(text => text.trimEnd().split('\n').length)).toEqual([3])
    observer['broker.stopped']?.({})
    observer['chore.lost']?.({ chore: 'purge' })
    expect(writes[1]).toMatch(/stopped.*\n.*purge.*\n$/)
  })

  it('are ASCII in JSON, in an encoding that says so, and as they are for people', async () => {
    const names = { principal: 'Zoë 数据库 😀', path: '/é' }
    for (const [format, encoding] of [
      ['json', 'latin1'],
      ['people', 'utf8'],
    ] as const) {
      const writes: [string, string][] = []
      const stream = { write: (text: string, how: string) => writes.push([text, how]) }
      const observer = createLogObserver({ format, stream })
      observer['request.ended']?.(request(names))
      observer['author.log']?.(written({ name: names.principal }))
      await new Promise(resolve => setImmediate(resolve))
      expect(new Set(writes.map(([, how]) => how))).toEqual(new Set([encoding]))
      const lines = writes
        .map(([text]) => text)
        .join('')
        .trimEnd()
        .split('\n')
      expect(lines).toHaveLength(2)
      if (format === 'people') {
        for (const line of lines) expect(line).toContain(names.principal)
        continue
      }
      // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is what is promised.
      for (const line of lines) expect(line).toMatch(/^[\u0000-\u007f]+$/)
      expect(lines.map(line => JSON.parse(line))).toMatchObject([names, { name: names.principal }])
    }
  })

  it('of requests have the time at which they ended, on the clock of the log', async () => {
    let time = 1_000_000
    let looks = 0
    const clock = {
      now: () => {
        looks += 1
        return time
      },
      after: () => () => {},
    }
    const writes: string[] = []
    const observer = createLogObserver({ stream: { write: (text: string) => writes.push(text) }, clock })
    const end = (endedAt: number) => observer['request.ended']?.(request({ startedAt: endedAt - 2, durationMs: 2 }))
    // The broker's clock is at 5,000, and goes on as long as the log's does not jump.
    for (let at = 5_000; at < 5_040; at += 1, time += 1) end(at)
    expect(looks).toBeLessThan(10)
    // The wall's clock is set back by an hour; the broker's is not.
    time -= 3_600_000
    for (let at = 5_040; at < 5_120; at += 1, time += 1) end(at)
    end(4_000)
    observer['chore.lost']?.({ chore: 'purge' })
    const times = writes
      .join('')
      .trimEnd()
      .split('\n')
      .map(line => Date.parse(JSON.parse(line).time))
    expect(times.slice(0, 40)).toEqual(Array.from({ length: 40 }, (_, i) => 1_000_000 + i))
    expect(times.slice(100)).toEqual(
      [...Array.from({ length: 20 }, (_, i) => 1_000_100 + i), 1_000_120, 1_000_120].map(at => at - 3_600_000),
    )
  })

  it('wait for each other where there are many, but not for long, and not where they are too many', async () => {
    const clock = createVirtualClock()
    const writes: string[] = []
    const stream = { write: (text: string) => writes.push(text) }
    const observer = createLogObserver({ format: 'json', level: 'info', stream, clock })
    const logOne = () => observer['broker.stopped']?.({})
    const linesOf = () => writes.map(text => text.trimEnd().split('\n').length)
    const turn = () => new Promise(resolve => setImmediate(resolve))
    logOne()
    await turn()
    expect(linesOf()).toEqual([1])
    for (let line = 0; line < 20; line += 1) {
      logOne()
      await turn()
      await clock.advance(1)
    }
    expect(linesOf()).toEqual([1])
    await clock.advance(30)
    expect(linesOf()).toEqual([1, 20])
    for (let line = 0; line < 1_000; line += 1) logOne()
    expect(linesOf()).toEqual([1, 20, 201, 201, 201, 201])
    await clock.advance(50)
    expect(linesOf()).toEqual([1, 20, 201, 201, 201, 201, 196])
    await clock.advance(1_000)
    logOne()
    await turn()
    expect(linesOf()).toEqual([1, 20, 201, 201, 201, 201, 196, 1])
  })

  it('come before the end of a process that is told to exit', () => {
    const code = `import { createLogObserver } from ${JSON.stringify(new URL('log.ts', import.meta.url).href)}
      const observer = createLogObserver({ format: 'people' })
      observer['broker.serving']({ url: 'u', store: 's', services: 1 })
      setImmediate(() => {
        observer['broker.stopped']({})
        process.exit(3)
      })`
    const args = ['--import', 'tsx', '--input-type=module', '--eval', code]
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect({ status, stdout }).toMatchObject({ status: 3, stdout: expect.stringMatching(/serving.*\n.*stopped\n$/) })
  })
})

function request(more: Partial<BrokerEvents['request.ended']>): BrokerEvents['request.ended'] {
  const answered = { status: 200, bytes: 10, startedAt: 998, durationMs: 2, aborted: false }
  return { method: 'GET', path: '/v2/catalog', ...answered, ...more }
}

function written(fields: LogFields): BrokerEvents['author.log'] {
  const operation = { operationId: 'o', action: 'bind', instanceId: 'i', serviceId: 's', planId: 'p' } as const
  return { ...operation, platform: 'cf', acceptedAt: 0, attempt: 1, level: 'warn', message: 'hello', fields }
}

async function logged(format: LogFormat, use: (observer: Observer) => void, level: LogLevel = 'info'): Promise<string> {
  const written: string[] = []
  const stream = { write: (line: string) => void written.push(line) }
  use(createLogObserver({ format, level, stream, clock: { now: () => 1000, after: () => () => {} } }))
  await new Promise(resolve => setImmediate(resolve))
  return written.join('')
}
