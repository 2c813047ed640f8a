import { format, inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { markedIn, readMarked, writeSensitive } from './marked.ts'
import { createRedactor } from './redact.ts'
import { redactError } from './redact-error.ts'
import { Sensitive, sensitive } from './sensitive.ts'

const canary = 'canary-51d0'
const secret = sensitive(canary)

describe('a sensitive value', () => {
  it.each<[string, () => string]>([
    ['String', () => String(secret)],
    ['a template', () => `${secret}`],
    ['a sum', () => ['x', secret].reduce((one, other) => one + (other as never)) as string],
    ['JSON', () => JSON.stringify({ secret, list: [secret] })],
    ['inspect', () => inspect({ secret, list: [secret] }, { depth: 9, showHidden: true })],
    ['format', () => format('%s %o %O %j', secret, secret, secret, secret)],
    ['a join', () => [secret].join()],
    ['the message of an error', () => new Error(secret as never).message],
    ['its fields', () => JSON.stringify([Object.entries(secret), Object.getOwnPropertyNames(secret)])],
    ['a clone', () => inspect(structuredClone({ secret }))],
  ])('shows nothing in %s', (_where, show) => {
    expect(show()).not.toContain(canary)
  })

  it('is had by reveal() alone', () => {
    expect(secret.reveal()).toBe(canary)
  })

  it('is kept with a mark and comes back as it was, or is kept as what it holds', () => {
    const given = { user: 'u', password: secret, list: [sensitive({ deep: 7 }), null] }
    const kept = JSON.parse(JSON.stringify(given, writeSensitive('marked')))
    expect(kept).toEqual({ user: 'u', password: { $sensitive: canary }, list: [{ $sensitive: { deep: 7 } }, null] })
    const back = readMarked(kept)
    expect(back.password).toBeInstanceOf(Sensitive)
    expect([back.password.reveal(), back.list[0].reveal(), back.user]).toEqual([canary, { deep: 7 }, 'u'])
    expect(markedIn(kept)).toEqual([canary])
    const plain = JSON.parse(JSON.stringify(given, writeSensitive('revealed')))
    expect(plain).toEqual({ user: 'u', password: canary, list: [{ deep: 7 }, null] })
    expect(readMarked(plain)).toBe(plain)
  })
})

describe('redactError', () => {
  const redact = createRedactor([canary])

  it('leaves an error without secrets as it is', () => {
    const error = new TypeError('nothing', { cause: new Error('nor here') })
    expect(redactError(error, redact)).toBe(error)
  })

  it('finds secrets in message, stack, causes, fields and errors of errors, and keeps the class and the code', () => {
    class BackendError extends Error {
      readonly code = 'E_DENIED'
      readonly status = 403
      readonly request = { headers: { authorization: canary } }
      override readonly name = 'BackendError'
    }
    const cause: Error & { self?: unknown } = new Error(`because of ${canary}`)
    cause.self = cause
    const inner = new BackendError(`denied for ${canary}`, { cause: new AggregateError([cause, canary], 'all') })
    const safe = redactError(inner, redact)
    expect(safe).toBeInstanceOf(BackendError)
    expect(safe).toMatchObject({
      code: 'E_DENIED',
      status: 403,
      message: 'denied for [redacted]',
      name: 'BackendError',
    })
    expect(inspect(safe, { depth: 9, showHidden: true })).not.toContain(canary)
    // The one that the author holds is as it was.
    expect(inner.message).toContain(canary)
  })
})
