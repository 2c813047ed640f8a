import { expect, it } from 'vitest'
import { newId } from './new-id.ts'

it('is a UUID version 7 that rises with time and never comes twice', () => {
  const now = Date.UTC(2026, 0, 1)
  const ids = Array.from({ length: 10_000 }, (_, i) => newId(now + i))
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(ids).toEqual([...ids].sort())
  expect(new Set(Array.from({ length: 10_000 }, () => newId(now))).size).toBe(10_000)
})
