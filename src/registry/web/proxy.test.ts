import { describe, expect, it } from 'vitest'
import { type ProxySettings, proxyFor } from './proxy.ts'

const both = { HTTP_PROXY: 'http://plain.example:3128', HTTPS_PROXY: 'secure.example:3129' }
const through = (url: string, settings: ProxySettings) => proxyFor(new URL(url), settings)?.host

describe('the proxy for a URL', () => {
  it('goes by the scheme of the URL', () => {
    expect(through('http://r.example/v2/', both)).toBe('plain.example:3128')
    expect(through('https://r.example/v2/', both)).toBe('secure.example:3129')
    expect(through('https://r.example/v2/', { HTTP_PROXY: both.HTTP_PROXY, HTTPS_PROXY: '' })).toBeUndefined()
  })

  it.each(['127.0.0.1:5000', 'localhost', '[::1]:80'])('is not asked for %s', host => {
    expect(through(`http://${host}/`, both)).toBeUndefined()
  })

  it.each([
    ['example', true],
    ['r.example', true],
    ['.example', true],
    ['*.example', true],
    ['*', true],
    ['other, r.example ', true],
    ['r.example:443', true],
    ['r.example:5000', false],
    ['ample', false],
    ['', false],
  ])('with NO_PROXY "%s"', (NO_PROXY, direct) => {
    expect(through('https://r.example/', { ...both, NO_PROXY }) === undefined).toBe(direct)
  })

  it('must be one that is known here', () => {
    expect(() => through('https://r.example/', { HTTPS_PROXY: 'socks5://u:p@s.example' })).toThrow(
      /^(?!.*u:p).*http:\/\//,
    )
  })
})
