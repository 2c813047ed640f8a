import { describe, expect, it } from 'vitest'
import { fingerprintOf } from './fingerprint.ts'

const operation = {
  id: '0197a7c2-7f5e-7cc0-93a1-55d2e1a2b3c4',
  instanceId: 'my-db',
  bindingId: 'b',
  serviceId: 's',
  action: 'provision' as const,
}
const of = (message: string, instanceId = 'my-db') => fingerprintOf({ ...operation, instanceId }, 'create', message)

describe('the fingerprint of a failure', () => {
  it.each([
    ['numbers', 'connect ECONNREFUSED 10.0.0.1:5432', 'connect ECONNREFUSED 10.20.0.17:31000'],
    ['uuids', 'no volume 0197a7c2-7f5e-7cc0-93a1-55d2e1a2b3c4', 'no volume 4b7d1e5c-0000-4cc0-93a1-000000000000'],
    ['hashes', 'image sha256:9f86d081884c7d65 is gone', 'image sha256:aa86d081884c7d99 is gone'],
    ['names of pods', 'pod db-7f9c8d6b5-x2x4z was evicted', 'pod db-5c4f7d9b8-k9q2w was evicted'],
    ['times', 'late since 2026-01-01T00:00:00.000Z', 'late since 2027-11-05 10:11:12'],
    ['white space', 'one\n  two', 'one two'],
  ])('is the same whatever the %s', (_what, one, other) => {
    expect(of(one)).toBe(of(other))
    expect(of(one)).toMatch(/^[0-9a-f]{16}$/)
  })

  it('is the same for instances of any name', () => {
    expect(of('the database of orders is locked', 'orders')).toBe(of('the database of people is locked', 'people'))
  })

  it('differs with the words, the step, the action and the service', () => {
    const all = [
      of('no quota'),
      of('no disk'),
      fingerprintOf(operation, 'remove', 'no quota'),
      fingerprintOf(operation, undefined, 'no quota'),
      fingerprintOf({ ...operation, action: 'bind' }, 'create', 'no quota'),
      fingerprintOf({ ...operation, serviceId: 't' }, 'create', 'no quota'),
    ]
    expect(new Set(all).size).toBe(all.length)
  })

  it('takes no longer for a message without an end', () => {
    const long = 'x1'.repeat(500_000)
    expect(of(long)).toBe(of(long))
  })
})
