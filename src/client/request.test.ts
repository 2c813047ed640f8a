import { describe, expect, it } from 'vitest'
import { authorization, encodeIdentity, mergeHeaders, parseBrokerUrl, toPath, toQuery } from './request.ts'

describe('parseBrokerUrl', () => {
  it('keeps a prefix path and drops what follows it', () => {
    expect(parseBrokerUrl('http://h/cf-eu/').url).toBe('http://h/cf-eu')
    expect(parseBrokerUrl('https://h:8443/a/b?x=1#y').url).toBe('https://h:8443/a/b')
    expect(parseBrokerUrl('http://h').url).toBe('http://h')
  })

  it('takes credentials out of the URL', () => {
    const { url, credentials } = parseBrokerUrl('http://al%40:p%3Aw@h/x')
    expect(url).toBe('http://h/x')
    expect(credentials).toEqual({ username: 'al@', password: 'p:w' })
  })

  it.each(['', 'h:8080', 'ftp://h', '/v2'])('refuses %j', text => {
    expect(() => parseBrokerUrl(text)).toThrow('A broker URL looks like')
  })
})

describe('authorization', () => {
  it('is basic in UTF-8, bearer, or nothing', () => {
    expect(authorization({ username: 'ä', password: 'b:c' })).toBe(`Basic ${Buffer.from('ä:b:c').toString('base64')}`)
    expect(authorization({ token: 't' })).toBe('Bearer t')
    expect(authorization({})).toBeUndefined()
    expect(() => authorization({ token: 't', username: 'u' })).toThrow('not both')
  })
})

describe('toPath', () => {
  it('URL-03 percent-encodes each id', () => {
    expect(toPath('v2', 'service_instances', 'a/b c?d#ü%')).toBe('/v2/service_instances/a%2Fb%20c%3Fd%23%C3%BC%25')
  })

  it.each(['', '.', '..'])('refuses %j, which a URL folds away', id => {
    expect(() => toPath('v2', id)).toThrow('a URL cannot carry it')
  })
})

it('URL-09 the query is percent-encoded, absent values are left out', () => {
  expect(toQuery({ operation: 'a&b=c', plan_id: undefined })).toBe('?operation=a%26b%3Dc')
  expect(toQuery({})).toBe('')
})

it('later headers replace earlier ones in any case, undefined takes one away', () => {
  expect(mergeHeaders({ Accept: 'a', 'X-One': '1' }, { accept: 'b', 'x-one': undefined })).toEqual({ accept: 'b' })
})

it('OID-06 OID-10 originating identity is the platform and base64 of JSON', () => {
  const [platform, value] = encodeIdentity({ platform: 'cloudfoundry', user: { user_id: 'ü' } }).split(' ')
  expect(platform).toBe('cloudfoundry')
  expect(JSON.parse(Buffer.from(value ?? '', 'base64').toString('utf8'))).toEqual({ user_id: 'ü' })
})
