import { describe, expect, it } from 'vitest'
import { isSameSite, parseChallenge } from './oci-client.ts'

describe('a challenge', () => {
  it('names a token service', () => {
    const header = 'Bearer realm="https://auth.example/token?a=b,c",service="reg",scope="repository:a/b:pull,push"'
    expect(parseChallenge(header)).toEqual({
      kind: 'bearer',
      realm: 'https://auth.example/token?a=b,c',
      service: 'reg',
      scope: 'repository:a/b:pull,push',
    })
  })

  it('may ask for a user, in any spelling', () => {
    expect(parseChallenge('basic Realm="x"')).toEqual({ kind: 'basic' })
  })

  it('is the first one that is known', () => {
    expect(parseChallenge('Negotiate, Bearer realm=http://a/t, Basic realm="x"')).toEqual({
      kind: 'bearer',
      realm: 'http://a/t',
    })
  })

  it.each([undefined, '', 'Bearer service="no realm"', '"""', 'Digest realm="x"'])('%j is none', header => {
    expect(parseChallenge(header)).toBeUndefined()
  })
})

it.each([
  ['https://r.example.com', 'https://r.example.com:5001', true],
  ['https://r.example.com', 'https://auth.r.example.com', true],
  ['https://registry.gitlab.com', 'https://gitlab.com', true],
  ['https://r.example.com', 'https://auth.example.com', false],
  ['https://r.example.com', 'https://xr.example.com', false],
  ['https://example.co.uk', 'https://other.co.uk', false],
  ['https://example.com', 'https://com', false],
  ['https://10.0.0.1', 'https://10.0.0.2', false],
])('the token service of %s at %s: of the same site is %s', (base, realm, expected) => {
  expect(isSameSite(new URL(realm), new URL(base))).toBe(expected)
})
