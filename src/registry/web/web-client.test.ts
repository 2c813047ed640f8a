import { describe, expect, it } from 'vitest'
import { pauseBefore } from './web-client.ts'

const pause = (status: number, after?: string, attempt = 1) =>
  pauseBefore({ status, headers: { 'retry-after': after } }, attempt, 500, Date.UTC(2030, 0, 1))

describe('the pause before a request is repeated', () => {
  it.each([200, 301, 400, 401, 403, 404, 501])('there is none after %d', status => {
    expect(pause(status)).toBeUndefined()
  })

  it.each([429, 500, 502, 503, 504])('it doubles after %d', status => {
    expect([1, 2, 3].map(attempt => pause(status, undefined, attempt))).toEqual([500, 1000, 2000])
  })

  it('is as long as the server asks for, in seconds or as a date', () => {
    expect(pause(429, '3')).toBe(3000)
    expect(pause(503, 'Tue, 01 Jan 2030 00:00:05 GMT')).toBe(5000)
    expect(pause(503, 'Mon, 31 Dec 2029 00:00:00 GMT')).toBe(0)
    expect(pause(503, 'soon')).toBe(500)
  })

  it('is none where the server asks for more than anybody waits here', () => {
    expect(pause(429, '3600')).toBeUndefined()
  })
})
