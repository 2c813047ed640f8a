import { describe, expect, it } from 'vitest'
import { type ProxySettings, proxyFor } from './proxy.ts'

const both = { httpProxy: 'http://plain.example:3128', httpsProxy: 'secure.example:3129' }
const through = (url: string, settings: ProxySettings) => proxyFor(new URL(url), settings)?.host

describe('the proxy for a URL', () => {
  it('goes by the scheme of the URL', () => {
    expect(through('http://r.example/v2/', both)).toBe('plain.example:3128')
    expect(through('https://r.example/v2/', both)).toBe('secure.example:3129')
    expect(through('https://r.example/v2/', { httpProxy: both.httpProxy, httpsProxy: '' })).toBeUndefined()
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
  ])('with NO_PROXY "%s"', (noProxy, direct) => {
    expect(through('https://r.example/', { ...both, noProxy }) === undefined).toBe(direct)
  })

  it('must be one that is known here', () => {
    expect(() => through('https://r.example/', { httpsProxy: 'socks5://u:p@s.example' })).toThrow(
      /^(?!.*u:p).*http:\/\//,
    )
  })
})
