import { describe, expect, expectTypeOf, it } from 'vitest'
import { type ReadSettings, readSettings, type Settings } from './settings.ts'

describe('settings in code', () => {
  it('have the names and durations of the configuration, and defaults for the rest', () => {
    const settings = readSettings({ engine: { lease: '1m', retry: { max: 5_000 } }, server: { bodyLimit: '2MB' } })
    expect(settings.engine).toMatchObject({ lease: 60_000, callTimeout: 12_000, retry: { initial: 1_000, max: 5_000 } })
    expect(settings.server).toEqual({ hosts: [], bodyLimit: 2_097_152, syncTimeout: 55_000, shutdownGrace: 20_000 })
    expect(settings.osb.missingVersion).toBe(412)
  })

  it('can be read again', () => {
    const settings = readSettings({ engine: { lease: '1m' }, ledger: { poolSize: 3 } })
    expect(readSettings(settings as Settings)).toEqual(settings)
  })

  it('have every mistake told at once, with the name as it is in code', () => {
    const wrong = {
      engine: { lease: 'soon', concurrency: 0, retri: {} },
      osb: { missingVersion: 500 },
      chores: { purgeAfter: '1d' },
    }
    expect(() => readSettings(wrong as unknown as Settings)).toThrow(`The settings have 5 mistakes:
  settings.engine.retri: is not known here; did you mean retry?
  settings.osb.missingVersion: found 500; allowed: 412 or 400
  settings.engine.concurrency: found 0; allowed: a whole number from 1 to 10000
  settings.engine.lease: found "soon"; allowed: a duration from 1s to 1h, such as 500ms, 90s, 5m, 2h or 10d
  settings.chores.purgeAfter: found "1d"; must not be shorter than osb.rememberDeleted, for which a deletion is remembered; raise it, or lower that`)
  })

  it('name prefixes that a path can have, and that are not paths of the broker itself', () => {
    expect(readSettings().osb.prefixes).toEqual([])
    expect(readSettings({ osb: { prefixes: ['cf-eu', 'k8s_1.a', 'v2x'] as const } }).osb.prefixes).toHaveLength(3)
    for (const prefix of ['', '.', '..', 'a/b', '/cf', 'a b', 'ü', '%41', 'v2', 'admin', 'console', 'dashboards'])
      expect(() => readSettings({ osb: { prefixes: ['cf', prefix] } })).toThrow('settings.osb.prefixes[1]: found')
  })

  it('have types that refuse other names and other durations', () => {
    expectTypeOf<NonNullable<Settings['engine']>['lease']>().toEqualTypeOf<
      number | `${number}ms` | `${number}s` | `${number}m` | `${number}h` | `${number}d` | undefined
    >()
    expectTypeOf<ReadSettings['engine']['lease']>().toEqualTypeOf<number>()
    // @ts-expect-error: a setting that does not exist
    expect(() => readSettings({ engine: { leaseMs: 5 } })).toThrow('did you mean lease?')
  })
})
