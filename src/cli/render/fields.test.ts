import { describe, expect, it } from 'vitest'
import { renderFields } from './fields.ts'
import { renderJson } from './json.ts'

describe('fields', () => {
  it('stand in two columns, inner ones by their path', () => {
    const value = { host: 'db', port: 5432, tls: { on: true, ca: null }, tags: ['a', 'b'], none: {} }
    expect(renderFields(value)).toBe(
      ['host    db', 'port    5432', 'tls.on  true', 'tls.ca  null', 'tags    ["a","b"]', 'none    {}', ''].join('\n'),
    )
  })

  it('quotes values that hold control characters, so that none reaches the terminal and none is lost', () => {
    expect(renderFields({ key: '-----BEGIN\nabc\u009b2J' })).toBe('key  "-----BEGIN\\nabc\\u009b2J"\n')
  })

  it('renders nothing as nothing', () => {
    expect(renderFields({}, undefined)).toBe('')
  })
})

it('JSON is one object', () => {
  expect(renderJson({ a: 1, b: undefined })).toBe('{\n  "a": 1\n}\n')
})
