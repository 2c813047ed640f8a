import { describe, expect, it } from 'vitest'
import { type AnswerKind, trimBody } from './answers.ts'

describe('trimBody', () => {
  const full = {
    provision: { dashboard_url: 'u', operation: 'o', metadata: { labels: { a: 'b' }, attributes: { c: 1 } } },
    update: { dashboard_url: 'u', operation: 'o', metadata: { labels: { a: 'b' }, attributes: { c: 1 } } },
    bind: {
      credentials: { metadata: 1, endpoints: 2 },
      syslog_drain_url: 's',
      route_service_url: 'r',
      volume_mounts: [],
      endpoints: [],
      metadata: { expires_at: 'e', renew_before: 'r' },
    },
    fetchInstance: {
      service_id: 's',
      parameters: { metadata: 1 },
      maintenance_info: { version: '1.0.0' },
      metadata: { labels: {} },
    },
    fetchBinding: { credentials: {}, parameters: {}, endpoints: [], metadata: { renew_before: 'r' } },
    lastOperation: { state: 'failed', description: 'd', instance_usable: false, update_repeatable: false },
    error: { error: 'E', description: 'd', instance_usable: false, update_repeatable: false },
  } as const satisfies Record<AnswerKind, object>

  it.each(Object.keys(full) as AnswerKind[])('returns the same %s body to a platform that knows everything', kind => {
    expect(trimBody(kind, full[kind], 17)).toBe(full[kind])
    expect(trimBody(kind, full[kind], 42)).toBe(full[kind])
  })

  it.each([
    ['provision', 16, { dashboard_url: 'u', operation: 'o', metadata: { labels: { a: 'b' } } }],
    ['provision', 15, { dashboard_url: 'u', operation: 'o' }],
    ['provision', 8, { dashboard_url: 'u' }],
    ['update', 14, { dashboard_url: 'u', operation: 'o' }],
    ['update', 13, { operation: 'o' }],
    ['bind', 16, { ...full.bind, metadata: { expires_at: 'e' } }],
    [
      'bind',
      14,
      { credentials: full.bind.credentials, syslog_drain_url: 's', route_service_url: 'r', volume_mounts: [] },
    ],
    ['bind', 9, { credentials: full.bind.credentials, syslog_drain_url: 's', route_service_url: 'r' }],
    ['bind', 7, { credentials: full.bind.credentials, syslog_drain_url: 's' }],
    ['fetchInstance', 16, { service_id: 's', parameters: { metadata: 1 } }],
    ['fetchBinding', 16, { credentials: {}, parameters: {}, endpoints: [] }],
    ['lastOperation', 15, { state: 'failed', description: 'd' }],
    ['error', 16, full.error],
    ['error', 15, { error: 'E', description: 'd' }],
  ] as const)('trims a %s body to 2.%i', (kind, minor, expected) => {
    expect(trimBody(kind, full[kind], minor)).toEqual(expected)
  })

  it('leaves the body it was given alone', () => {
    const body = { operation: 'o', metadata: { labels: {} } }
    trimBody('provision', body, 8)
    expect(body).toEqual({ operation: 'o', metadata: { labels: {} } })
  })

  it('keeps vendor fields, empty objects and names that objects inherit', () => {
    const body = { 'x-vendor': 1, constructor: 'c', metadata: {} }
    expect(trimBody('provision', body, 16)).toEqual(body)
  })
})
