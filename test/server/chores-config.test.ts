import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSchedule } from '../../src/engine/schedule.ts'
import { loadConfig } from '../../src/server/config.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { mistakesIn } from './mistakes.ts'

let cwd = ''
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'purser-config-'))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

describe('chores', () => {
  it('become the broker’s settings', async () => {
    const config = await load(`chores:
  timeZone: Europe/Berlin
  observe: "-"
  purge: "0 15 3 * * *"
  sync: "@hourly"
  purge-after: 90d
  clean-up:
    instances: { age: 10d, all: 0 3 * * * }
    bindings: { age: 90s, succeeded: "@daily", failed: "-" }
`)
    expect(config.chores).toEqual({
      timeZone: 'Europe/Berlin',
      observe: '-',
      purge: '0 15 3 * * *',
      survey: '*/30 * * * * *',
      batches: '* * * * *',
      expiry: '* * * * *',
      history: '*/15 * * * * *',
      sync: '@hourly',
      purgeAfter: 90 * 86_400_000,
      cleanUp: {
        instances: { age: 864_000_000, all: '0 3 * * *' },
        bindings: { age: 90_000, succeeded: '@daily', failed: '-' },
      },
    })
  })

  it('have defaults that are patterns', () => {
    const { observe, purge, sync } = readSettings().chores
    for (const pattern of [observe, purge, sync]) expect(createSchedule(pattern, 'UTC').next(0)).toBeGreaterThan(0)
  })

  it('tell every wrong pattern with what is allowed', async () => {
    const allowed =
      'write a cron pattern of 5 fields (minute, hour, day of month, month, day of week) or 6 (with the second before them), such as "30 3 * * *", or a name such as @daily, or "-" for off'
    expect(
      await mistakes(`chores:
  timeZone: Europe/Bärlin
  observe: 5s
  purge: "0 0 0 1 1 * 2030"
  purgeAfter: 30m
  cleanUp:
    instances: { age: 3 days, all: "0 0 30 2 *", succeeded: 0 61 * * * *, failed: "" }
    bindings: { all: true, sucseeded: "@daily" }
`),
    ).toEqual([
      'purser.yaml:2 chores.timeZone: found "Europe/Bärlin"; allowed: the IANA name of a time zone, such as UTC or Europe/Berlin',
      `purser.yaml:3 chores.observe: found "5s": it has 1 field; ${allowed}`,
      `purser.yaml:4 chores.purge: found "0 0 0 1 1 * 2030": it has 7 fields; ${allowed}`,
      'purser.yaml:5 chores.purgeAfter: found "30m"; allowed: a duration from 1h to 3650d, such as 500ms, 90s, 5m, 2h or 10d',
      `purser.yaml:7 chores.cleanUp.instances.all: found "0 0 30 2 *": there is no such time; ${allowed}`,
      `purser.yaml:7 chores.cleanUp.instances.succeeded: found "0 61 * * * *": it cannot be read (Invalid value for minute: 61); ${allowed}`,
      'purser.yaml:7 chores.cleanUp.instances.age: found "3 days"; allowed: a duration from 0s to 3650d, such as 500ms, 90s, 5m, 2h or 10d',
      'purser.yaml:7 chores.cleanUp.instances.failed: found ""; allowed: a cron pattern in quotes, such as "30 3 * * *", or "-" for off',
      'purser.yaml:8 chores.cleanUp.bindings.sucseeded: unknown setting; did you mean chores.cleanUp.bindings.succeeded?',
      'purser.yaml:8 chores.cleanUp.bindings.all: found true; allowed: a cron pattern in quotes, such as "30 3 * * *", or "-" for off',
    ])
  })

  it('tell that a star needs quotes, which YAML takes for an alias', async () => {
    expect(await mistakes('chores:\n  observe: */5 * * * * *\n')).toEqual([
      expect.stringMatching(/^purser\.yaml:2: not valid YAML: .*in quotes/),
    ])
  })

  it('refuse to purge what is still remembered', async () => {
    expect(await mistakes('chores: { purgeAfter: 2d }\n')).toEqual([
      'purser.yaml:1 chores.purgeAfter: found "2d"; must not be shorter than osb.rememberDeleted, for which a deletion is remembered; raise it, or lower that',
    ])
    expect(await load('chores: { purgeAfter: 2d }\nosb: { rememberDeleted: 1d }\n')).toMatchObject({
      chores: { purgeAfter: 172_800_000 },
    })
  })
})

describe('a Spring application.yaml with a clean-up', () => {
  it('works as it is', async () => {
    const config = await load(
      `com:
  equalities:
    osbapi:
      service-instances:
        force-delete-unknown: true
        operations:
          cleanup-age: 10d
          cleanup-all: "0 0 3 * * *"
          cleanup-succeeded: "-"
          cleanup-failed: \${CRON:0 0 4 13 * FRI}
      serviceBindings.operations:
        cleanupAge: PT2H30M
        cleanup_succeeded: 0 */15 * * * ?
`,
      'application.yaml',
    )
    expect(config.instances.forceDeleteUnknown).toBe(true)
    expect(config.chores.cleanUp).toEqual({
      instances: { age: 864_000_000, all: '0 0 3 * * *', succeeded: '-', failed: '0 0 4 13 * +FRI' },
      bindings: { age: 9_000_000, succeeded: '0 */15 * * * ?' },
    })
    const friday = createSchedule(config.chores.cleanUp.instances.failed ?? '', 'UTC')
    expect(friday.next(Date.UTC(2026, 0, 1))).toBe(Date.UTC(2026, 1, 13, 4))
  })

  it('yields to our own names, and has its mistakes told', async () => {
    const spring =
      'com.equalities.osbapi.service-instances.operations: { cleanup-age: 90s, cleanup-all: 0 0 3 * * * }\n'
    expect((await load(`${spring}chores.cleanUp.instances.age: 5d\n`)).chores.cleanUp.instances).toEqual({
      age: 432_000_000,
      all: '0 0 3 * * *',
    })
    expect(await mistakes(spring.replace('3 * * *', '3').replace('90s', 'soon'))).toEqual([
      expect.stringMatching(/^purser\.yaml:1 chores\.cleanUp\.instances\.all: found "0 0 3": it has 3 fields/),
      expect.stringMatching(/^purser\.yaml:1 chores\.cleanUp\.instances\.age: found "soon"/),
    ])
  })
})

describe('ledger', () => {
  it('goes to the store', async () => {
    const config = await load('ledger: { schema: cf_eu, pool-size: 5, connectTimeout: 2s, statementTimeout: 1m }\n')
    expect(config.ledger).toEqual({
      schema: 'cf_eu',
      poolSize: 5,
      connectTimeout: 2000,
      statementTimeout: 60_000,
    })
  })

  it.each(['Purser', '9lives', 'a-b', '"a;drop"', '""'])('refuses the schema %s', async schema => {
    expect(await mistakes(`ledger: { schema: ${schema} }\n`)).toEqual([
      expect.stringMatching(/^purser\.yaml:1 ledger\.schema: found .*; allowed: small letters, digits and _/),
    ])
  })
})

function load(text: string, file = 'purser.yaml') {
  writeFileSync(join(cwd, file), text)
  return loadConfig({ file, env: {}, flags: {}, cwd, terminal: false })
}

function mistakes(text: string): Promise<string[]> {
  return mistakesIn(load(text))
}
