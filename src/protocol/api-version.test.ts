import { describe, expect, it } from 'vitest'
import { parseApiVersion } from './api-version.ts'

describe('parseApiVersion', () => {
  it.each([
    ['2.0', 0],
    ['2.13', 13],
    ['2.17', 17],
    [' 2.17 ', 17],
    ['2.99', 99],
  ])('serves %j (HDR-06)', (header, minor) => {
    expect(parseApiVersion(header)).toEqual({ minor })
  })

  it.each([undefined, '', '  '])('takes %j for missing (HDR-08)', header => {
    expect(parseApiVersion(header)).toBe('missing')
  })

  it.each([
    '1.17',
    '3.0',
    '2',
    '2.',
    '2.x',
    'v2.17',
    '2.17.1',
    '2.-1',
    '2.17, 2.17',
    '22.17',
    '2.1e3',
    '２.17',
    'abc',
    '2.99999999999',
  ])('refuses %j', header => {
    expect(parseApiVersion(header)).toBe('unsupported')
  })
})
