import { describe, expect, it } from 'vitest'
import { parseChallenge } from './oci-client.ts'

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
