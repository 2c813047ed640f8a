import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { listKnownSettings } from '../../src/server/config/known-settings.ts'
import { applyOverrides } from '../../src/server/config/overrides.ts'

const page = readFileSync(new URL('../../docs/reference/configuration.md', import.meta.url), 'utf8')
const rows = page
  .split('\n')
  .map(line => line.split('|').map(cell => cell.trim()))
  .filter(cells => cells.length === 8 && cells[1]?.startsWith('`'))
  .map(([, key = '', , preset = '', , environment = '', flag = '']) => ({
    key: key.replaceAll('`', ''),
    preset: preset.replaceAll('`', ''),
    environment: environment.match(/[A-Z_]{4,}/g) ?? [],
    flag,
  }))

describe('docs/reference/configuration.md', () => {
  it('lists every setting, in order, and no other', () => {
    expect(rows.map(row => row.key)).toEqual(listKnownSettings().map(({ key }) => key))
  })

  it.each(listKnownSettings())('gives the default of $key', ({ key, default: preset }) => {
    const written = Array.isArray(preset) ? `[${preset.join(', ')}]` : String(preset ?? '')
    expect(rows.find(row => row.key === key)?.preset).toBe(written)
  })

  it('names each variable and flag at the setting that it changes', () => {
    const named = rows.flatMap(({ key, environment, flag }) => [
      ...environment.map(name => [name, key]),
      ...(flag === '' ? [] : [[flag.replaceAll('`', '').replace('serve ', ''), key]]),
    ])
    const env = {
      PORT: '1',
      PURSER_HOST: 'x',
      PURSER_PUBLIC_URL: 'x',
      PURSER_STORE: 'x',
      PURSER_LOG_FORMAT: 'x',
    }
    const users = [
      ['PURSER_USERNAME', 'auth.basic[].username'],
      ['PURSER_PASSWORD', 'auth.basic[].password'],
    ]
    expect(named.toSorted()).toEqual(
      [
        ...users,
        ...origins(env, {}),
        ...origins({ PURSER_PORT: '1' }, {}),
        ...origins({}, { broker: 'x', host: 'x', port: 1, store: 'x' }),
      ].toSorted(),
    )
  })
})

/** Which setting each of these was taken for. */
function origins(env: Record<string, string>, flags: Parameters<typeof applyOverrides>[2]['flags']): string[][] {
  const found = new Map()
  applyOverrides({}, found, { env, flags, cwd: '/' })
  return [...found].map(([key, { where }]) => [where, key])
}
