import { expect, it } from 'vitest'
import { readSettings } from '../settings/settings.ts'
import { createMemoryStore } from './memory/index.ts'
import { readLedgerOptions } from './options.ts'

it('has the names and the defaults of the settings', () => {
  const { schema, poolSize, connectTimeout, statementTimeout } = readSettings().ledger
  const read = { schema, poolSize, connectTimeoutMs: connectTimeout, statementTimeoutMs: statementTimeout }
  expect(readLedgerOptions({})).toEqual(read)
  expect(readLedgerOptions(readSettings().ledger)).toEqual(read)
})

it('takes durations as text and as milliseconds, and refuses other texts', () => {
  const read = readLedgerOptions({ connectTimeout: '90s', statementTimeout: 500 })
  expect(read).toMatchObject({ connectTimeoutMs: 90_000, statementTimeoutMs: 500 })
  expect(() => readLedgerOptions({ connectTimeout: 'soon' as never })).toThrow('"soon" is not a duration')
})

it('a store goes by the clock of the system unless told otherwise', async () => {
  const before = Date.now()
  const { now } = await createMemoryStore().chores()
  expect(now).toBeGreaterThanOrEqual(before)
})
