import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tailOf } from '../sandbox/redact.ts'
import { findParts } from './find-parts.ts'
import { createRedactor } from './redact.ts'

describe('findParts', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 40 })

  it('finds every byte that a look at each place would find', () => {
    fc.assert(
      fc.property(text, fc.array(text.filter(part => part !== '')), (whole, parts) => {
        const found = new Set<number>()
        for (const part of parts)
          for (let at = whole.indexOf(part); at >= 0; at = whole.indexOf(part, at + 1))
            for (let index = 0; index < part.length; index++) found.add(at + index)
        const spans = findParts(
          Buffer.from(whole),
          parts.map(part => Buffer.from(part)),
        )
        const covered = spans.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, index) => from + index))
        expect(covered).toEqual([...found].sort((a, b) => a - b))
      }),
      { numRuns: 500 },
    )
  })
})

describe('createRedactor', () => {
  it('cuts out what overlaps as one, and leaves no rest of either', () => {
    expect(createRedactor(['abcd', 'bcdefgh'])('x abcdefgh y')).toBe('x [redacted] y')
    expect(createRedactor(['sesame'])('sesamesesame')).toBe('[redacted][redacted]')
    expect(createRedactor(['sesame', 'acte'])('sesame')).toBe('[redacted]')
  })

  it('knows characters of any length', () => {
    expect(createRedactor(['pässwörd😀'])('é pässwörd😀 é')).toBe('é [redacted] é')
  })

  it('knows the ways in which libraries spell it', () => {
    for (const secret of ['hunter2hunter2', 'p?~ss>>word~~?', "it's (all) & 50%!", 'gr\u00fc\u00df ~ dich'] as const) {
      const redact = createRedactor([secret])
      const bytes = Buffer.from(secret)
      const padded = bytes.toString('base64')
      const spellings = {
        base64: padded,
        unpadded: padded.replaceAll('=', ''),
        base64url: bytes.toString('base64url'),
        'base64url with padding': padded.replaceAll('+', '-').replaceAll('/', '_'),
        url: encodeURIComponent(secret),
        form: new URLSearchParams({ secret }).toString().slice('secret='.length),
        json: JSON.stringify(secret).slice(1, -1),
      }
      for (const [spelling, text] of Object.entries(spellings))
        expect([spelling, redact(`<${text}>`)]).toEqual([spelling, '<[redacted]>'])
    }
  })

  it('knows it in the base64 of a longer text, such as the header of basic authentication', () => {
    const header = (secret: string) => `Basic ${Buffer.from(`user:${secret}`).toString('base64')}`
    expect(createRedactor(['hunter2hunter2'])(header('hunter2hunter2'))).toMatch(/^Basic dXNlcj..?\[redacted\].?=*$/)
    const bytes = fc.uint8Array({ maxLength: 7 }).map(given => Buffer.from(given))
    const encoding = fc.constantFrom('base64', 'base64url')
    fc.assert(
      fc.property(
        bytes,
        fc.string({ minLength: 4, unit: 'grapheme' }),
        bytes,
        encoding,
        (before, secret, after, form) => {
          const whole = Buffer.concat([before, Buffer.from(secret), after])
          const rest = createRedactor([secret])(whole.toString(form)).replace(/=+$/, '')
          expect(rest).toContain('[redacted]')
          // What is left is of the bytes around it, and no more than half a byte of its own at either end.
          const most = Math.ceil((before.length * 4) / 3) + Math.ceil((after.length * 4) / 3) + 1
          expect(rest.length - '[redacted]'.length).toBeLessThanOrEqual(most)
        },
      ),
    )
  })

  it('takes time in proportion to the text and the secrets, however many and alike', () => {
    const many = Array.from({ length: 150_000 }, (_, index) => `value-${index.toString(36)}`)
    const lines = many.filter((_, index) => index % 50 === 0)
    expect(tailOf(lines.join('\n'), false, many)).toBe(lines.map(() => '[redacted]').join('\n'))
    const alike = Array.from({ length: 1400 }, (_, index) => `${'a'.repeat(index + 4)}b`)
    expect(createRedactor(alike)('a'.repeat(65_536))).toHaveLength(65_536)
  })
})
