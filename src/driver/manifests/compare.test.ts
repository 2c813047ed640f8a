import { describe, expect, it } from 'vitest'
import { isSame } from './compare.ts'

const live = {
  ...{ apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' } },
  metadata: { name: 'one', resourceVersion: '1', labels: { a: 'b' } },
}

describe('two looks at an object', () => {
  it('are the same where only the server or a controller has written', () => {
    const metadata = { ...live.metadata, resourceVersion: '2', generation: 2, managedFields: [{ manager: 'x' }] }
    expect(isSame(live, { ...live, metadata, status: { ready: true } } as typeof live)).toBe(true)
    expect(isSame(undefined, undefined)).toBe(true)
  })

  it('differ in its fields, in its labels, and where it is gone', () => {
    expect(isSame(live, { ...live, data: { a: '2' } } as typeof live)).toBe(false)
    expect(isSame(live, { ...live, metadata: { ...live.metadata, labels: { a: 'c' } } })).toBe(false)
    expect(isSame(undefined, live)).toBe(false)
  })
})
