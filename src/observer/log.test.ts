import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { Observer } from '../observer.ts'
import { BrokerError } from '../protocol/errors.ts'
import { createLogObserver, type LogFormat, type LogLevel } from './log.ts'

const canary = 'canary-7f3a'

describe.each<LogFormat>(['json', 'people'])('createLogObserver, %s', format => {
  it('never prints the value of a field that is named like a secret', () => {
    const names = ['password', 'new_password', 'clientSecret', 'access-token', 'Authorization', 'credentials']
    const fields = Object.fromEntries([...names, 'parameters', 'state', 'instanceState'].map(name => [name, canary]))
    const text = logged(format, observer => {
      observer.info('hello', fields)
      observer.error('hello', { credentials: new Error(canary) })
    })
    expect(text).not.toContain(canary)
    expect(text.match(/\[redacted\]/g)).toHaveLength(10)
  })

  it('prints nothing below its level', () => {
    const text = logged(
      format,
      observer => {
        observer.info('too little')
        observer.warn('enough')
        observer.error('more than enough')
      },
      'warn',
    )
    expect(text).not.toContain('too little')
    expect(text.trim().split('\n')).toHaveLength(2)
  })

  it('prints a stack only for errors nobody planned for', () => {
    const planned = logged(format, observer => observer.warn('x', { error: new BrokerError('NotFound', 'no such') }))
    expect(planned).toContain('NotFound')
    expect(planned).toContain('no such')
    expect(planned).not.toContain('log.test.ts')
    const unplanned = logged(format, observer => observer.error('x', { error: new TypeError('oops') }))
    expect(unplanned).toContain('oops')
    expect(unplanned).toContain('log.test.ts')
  })

  it('keeps what a client sent on one line', () => {
    const text = logged(format, observer => observer.info('a\nb', { url: '/x\r\n2026 ERROR fake\u001b[31m' }))
    expect(text.trimEnd().split(/[\r\n]/)).toHaveLength(1)
    expect(text).not.toContain('\u001b')
  })
})

describe('the formats', () => {
  it('json: one object with time, level, msg and the fields', () => {
    const text = logged('json', observer => observer.info('started', { port: 8080, tls: false, nothing: undefined }))
    expect(JSON.parse(text)).toEqual({
      level: 'info',
      time: '1970-01-01T00:00:01.000Z',
      port: 8080,
      tls: false,
      msg: 'started',
    })
  })

  it('people: time, level, message, key=value', () => {
    const text = logged('people', observer => {
      observer.warn('lost the lease', { operation: 'a1', reason: 'too slow', empty: '' })
      observer.error('failed', { error: new BrokerError('StoreUnavailable', 'full', { cause: new Error('ENOSPC') }) })
    })
    expect(text).toBe(
      '1970-01-01T00:00:01.000Z WARN  lost the lease operation=a1 reason="too slow" empty=""\n' +
        '1970-01-01T00:00:01.000Z ERROR failed error="StoreUnavailable: full (because: ENOSPC)"\n',
    )
  })
})

describe('a stream that fails', () => {
  it('costs lines, not the process', async () => {
    const stream = new Writable({ write: (_line, _encoding, done) => done(new Error('EPIPE')) })
    const observers = [1, 2].map(() => createLogObserver({ format: 'json', level: 'info', stream }))
    const failed = new Promise(resolve => stream.once('close', resolve))
    for (const observer of observers) observer.info('nobody reads this')
    await failed
    for (const observer of observers) expect(() => observer.error('nor this')).not.toThrow()
    expect(stream.listenerCount('error')).toBe(1)
  })

  it('may throw', () => {
    const write = () => {
      throw new Error('ENOSPC')
    }
    const observer = createLogObserver({ format: 'people', level: 'info', stream: { write } })
    expect(() => observer.info('lost')).not.toThrow()
  })
})

function logged(format: LogFormat, use: (observer: Observer) => void, level: LogLevel = 'info'): string {
  const lines: string[] = []
  const stream = { write: (line: string) => void lines.push(line) }
  use(createLogObserver({ format, level, stream, clock: { now: () => 1000, after: () => () => {} } }))
  return lines.join('')
}
