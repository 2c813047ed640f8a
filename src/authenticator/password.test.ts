import { describe, expect, it } from 'vitest'
import { hashPassword, parsePasswordHash, readPasswordHash, verifyPassword } from './password.ts'

const good = `scrypt$1024$8$1$${Buffer.alloc(16, 1).toString('base64url')}$${Buffer.alloc(32, 2).toString('base64url')}`

describe('hashPassword', () => {
  it('describes itself, differs each time and fits its password only', async () => {
    const [first, second] = await Promise.all([hashPassword('grün:✓'), hashPassword('grün:✓')])
    expect(first).toMatch(/^scrypt\$32768\$8\$1\$[\w-]{22}\$[\w-]{43}$/)
    expect(first).not.toBe(second)
    expect(await verifyPassword('grün:✓', parsePasswordHash(first))).toBe(true)
    expect(await verifyPassword('grün:✗', parsePasswordHash(first))).toBe(false)
  })
})

describe('readPasswordHash', () => {
  it('takes other costs than the ones it makes', () => {
    expect(readPasswordHash(good)).toMatchObject({ cost: 1024, blockSize: 8, parallelization: 1 })
  })

  it.each([
    ['', /scrypt\$/],
    ['hunter2', /scrypt\$/],
    ['$2b$10$abcdefghijklmnopqrstuv', /scrypt\$/],
    ['scrypt$1024$8$1$AAAA', /scrypt\$N\$r\$p\$salt\$hash/],
    [`${good}$more`, /scrypt\$N\$r\$p\$salt\$hash/],
    [good.replace('1024', '1000'), /N is not a power of two/],
    [good.replace('1024', '2097152'), /N is not a power of two/],
    [good.replace('1024', '0x400'), /N is not a power of two/],
    [good.replace('$8$', '$0$'), /r is not/],
    [good.replace('$1$', '$99$'), /p is not/],
    [good.replace('1024$8', '1048576$32'), /256 MB/],
    [good.replace(/\$[^$]*\$([^$]*)$/, '$$AA$$$1'), /salt/],
    [good.replace(/[^$]*$/, 'not base64!'), /its hash/],
  ])('%j is refused, and not repeated', (text, reason) => {
    const mistake = readPasswordHash(text)
    expect(mistake).toMatch(reason)
    if (text.length > 10) expect(mistake).not.toContain(text)
    expect(() => parsePasswordHash(text)).toThrow(reason)
  })
})
