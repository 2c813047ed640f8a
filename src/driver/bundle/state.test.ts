import { describe, expect, it } from 'vitest'
import { changeValues, readState, toStored } from './state.ts'

describe('the state of a bundle', () => {
  it('comes back as it was stored, without a sandbox', () => {
    expect(readState(toStored({ db: 'x' }, { user: 'me' }))).toEqual({
      values: { db: 'x' },
      credentials: { user: 'me' },
    })
    expect(readState({})).toEqual({ values: {} })
  })

  it('is read whatever stands in the ledger', () => {
    expect(readState({ state: 'x', credentials: [], sandbox: null })).toEqual({ values: {} })
    expect(readState({ state: { a: 1, b: 'x' }, sandbox: { name: 'o-1-1' } })).toEqual({ values: { b: 'x' } })
    const sandbox = { name: 'o-1-1', attempt: 1, host: 'a', runtime: 'process', until: 7, ended: 'failed' } as const
    expect(readState({ sandbox })).toEqual({ values: {}, sandbox })
  })

  it('changes key by key, also where a key has an odd name', () => {
    expect(changeValues({ a: '1', b: '2' }, { b: null, c: '3', none: null })).toEqual({ a: '1', c: '3' })
    expect(Object.keys(changeValues({}, JSON.parse('{"__proto__":"x"}')))).toEqual(['__proto__'])
  })

  it('has a limit that counts bytes, keys included', () => {
    const most = 1024 * 1024
    expect(changeValues({ a: 'x'.repeat(most - 1) })).toBeDefined()
    expect(() => changeValues({ ab: 'x'.repeat(most - 1) })).toThrow('1048577 bytes')
    expect(() => changeValues({ a: 'ä'.repeat(most / 2) })).toThrow('has to keep less')
  })
})
