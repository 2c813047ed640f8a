import { expect, it } from 'vitest'
import { renderError } from './error-lines.ts'
import { createStyle } from './style.ts'

const parts = { what: 'could not provision a/b', why: 'the broker answered 409\nTaken', next: 'Choose another id.' }

it('is three lines: what, why, next', () => {
  expect(renderError(parts, createStyle(false))).toBe(
    'error: could not provision a/b\n  why: the broker answered 409 Taken\n next: Choose another id.\n',
  )
})

it('lets no control character of a broker through', () => {
  const text = renderError({ ...parts, why: '\u001b[2J\u0007gone\u009b31m\u202e' }, createStyle(false))
  expect(text).toContain('  why: [2J gone 31m\n')
})

it('has colour only where asked', () => {
  expect(renderError(parts, createStyle(true))).toContain('\u001b[31merror:\u001b[39m')
})
