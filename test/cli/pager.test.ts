import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { showInPager } from '../../src/cli/pager.ts'
import { startCannedBroker } from './canned-broker.ts'
import { createTestIo, makeFolder, runCli, type TestIoOptions } from './test-io.ts'

const items = Array.from({ length: 30 }, (_, index) => ({
  at: '2026-01-01T00:00:00.000Z',
  by: 'ops',
  verb: 'retry',
  instance_id: `instance-${index}`,
}))

/** A pager that keeps what it was given, and what it was told. */
async function createPager() {
  const folder = await makeFolder()
  const [command, file] = [join(folder, 'pager'), join(folder, 'shown')]
  writeFileSync(command, `#!/bin/sh\n{ echo "$LESS $*"; cat; } > ${file}\n`)
  chmodSync(command, 0o755)
  return { command, shown: () => (existsSync(file) ? readFileSync(file, 'utf8') : undefined) }
}

async function listHistory(options: TestIoOptions, ...flags: string[]) {
  const broker = await startCannedBroker({ 'GET /admin/history': { status: 200, body: { items } } })
  const env = { ...options.env, PURSER_URL: broker.url }
  return runCli(['history', 'list', ...flags], { ...options, cwd: await makeFolder(), env })
}

describe('a list that is longer than the terminal', () => {
  it('goes through the pager', async () => {
    const { command, shown } = await createPager()
    const { code, out } = await listHistory({ tty: true, rows: 24, env: { PAGER: `${command} -S` } })
    expect([code, out]).toEqual([0, ''])
    const [first, ...lines] = shown()?.split('\n') ?? []
    expect(first).toBe('FRX -S')
    expect(lines).toHaveLength(32)
    expect(lines.at(-2)).toContain('instance-29')
  })

  it.each([
    ['in a pipe', { rows: 24 }, []],
    ['with --no-pager', { tty: true, rows: 24 }, ['--no-pager']],
    ['as JSON', { tty: true, rows: 24 }, ['--output', 'json']],
    ['where it fits', { tty: true, rows: 32 }, []],
    ['where the terminal can do nothing', { tty: true, rows: 24, env: { TERM: 'dumb' } }, []],
  ] as const)('is printed %s', async (_title, options, flags) => {
    const { command, shown } = await createPager()
    const env = { ...('env' in options ? options.env : {}), PAGER: command }
    const { code, out } = await listHistory({ ...options, env }, ...flags)
    expect([code, shown()]).toEqual([0, undefined])
    expect(out).toContain('instance-29')
  })

  it.each(['', ' ', 'cat', '/no/such/pager', 'exit 127'])('is printed where the pager is "%s"', async PAGER => {
    const { code, out } = await listHistory({ tty: true, rows: 24, env: { PAGER } })
    expect([code, out]).toEqual([0, expect.stringContaining('instance-29')])
  })

  it('is printed where there is no less', async () => {
    const io = createTestIo({ tty: true, rows: 2, env: { PATH: '/nowhere' } })
    expect(await showInPager(io, 'one\ntwo\nthree\n')).toBe(false)
  })

  it('is no failure for who has read enough', async () => {
    const io = createTestIo({ tty: true, rows: 2, env: { PAGER: 'head -1 > /dev/null' } })
    expect(await showInPager(io, 'much\n'.repeat(1_000_000))).toBe(true)
  })
})
