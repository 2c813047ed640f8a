import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import type { Driver } from '../../src/store/sqlite/driver.ts'
import { openWith } from '../../src/store/sqlite/open.ts'
import { provision } from '../../src/testing/store-contract/rows.ts'
import { describeDrivers, testFolder } from './sqlite-drivers.ts'

const script = fileURLToPath(new URL('./sqlite-child.ts', import.meta.url))
const patience = 60_000

describeDrivers('sqlite and other processes', driver => {
  it('refuses a database that another process holds, and says who', { timeout: patience }, async () => {
    const file = join(testFolder(), 'ledger.db')
    const child = start(driver, file, 'hold')
    await child.line('open')
    const { pid, since } = JSON.parse(readFileSync(`${file}.owner.json`, 'utf8'))
    expect(pid).toBe(child.process.pid)
    expect(() => openWith(driver, { file, clock: systemClock })).toThrow(
      `${file} is held by process ${pid} on host ${hostname()} since ${since}: one process at a time can use it.`,
    )
    child.process.stdin.end()
    expect(await child.exit).toBe(0)
    expect(existsSync(`${file}.owner.json`)).toBe(false)
    await openWith(driver, { file, clock: systemClock }).close()
  })

  it('has everything it promised after kill -9, and is free at once', { timeout: patience }, async () => {
    const file = join(testFolder(), 'ledger.db')
    const promised: string[] = []
    for (const round of [1, 2]) {
      const child = start(driver, file, 'write')
      child.onLine(line => {
        if (line.startsWith('written ')) promised.push(line.slice('written '.length))
      })
      await child.lines(60 * round)
      child.process.kill('SIGKILL')
      await child.exit
      const store = openWith(driver, { file, clock: systemClock })
      for (const id of promised) {
        expect((await store.instance(id))?.id).toBe(id)
        expect((await store.operation(`${id}:provision`))?.state).toBe('queued')
      }
      await store.close()
      expect(integrity(driver, file)).toBe('ok')
    }
    expect(promised.length).toBeGreaterThan(100)
  })

  it.skipIf(process.platform !== 'linux')(
    'says unavailable while the system refuses to write (linux only), loses nothing, and works again with room',
    { timeout: patience },
    async () => {
      const file = join(testFolder(), 'ledger.db')
      const child = start(driver, file, 'fill')
      await child.line('open')
      execFileSync('prlimit', [`--pid=${child.process.pid}`, '--fsize=1000000:unlimited'])
      const full = await child.line('full')
      const written = Number(full.split(' ')[1])
      expect(written).toBeGreaterThan(0)
      execFileSync('prlimit', [`--pid=${child.process.pid}`, '--fsize=unlimited:unlimited'])
      child.process.stdin.write('go on\n')
      expect(await child.line('works')).toBe(`works ${written}`)
      child.process.kill('SIGKILL')
      await child.exit
      const store = openWith(driver, { file, clock: systemClock })
      expect((await store.instance('after'))?.id).toBe('after')
      await provision(store, 'again')
      await store.close()
      expect(integrity(driver, file)).toBe('ok')
    },
  )
})

interface Child {
  readonly process: ChildProcessWithoutNullStreams
  readonly exit: Promise<number | null>
  onLine(listener: (line: string) => void): void
  /** The first line that begins so, whether it has come or is to come. */
  line(beginning: string): Promise<string>
  lines(count: number): Promise<void>
}

function start(driver: Driver, file: string, mode: string): Child {
  const child = spawn(process.execPath, ['--import', 'tsx', script, driver.name, file, mode])
  onTestFinished(() => void child.kill('SIGKILL'))
  const seen: string[] = []
  const errors: string[] = []
  const output = createInterface(child.stdout)
  output.on('line', line => seen.push(line))
  child.stderr.on('data', data => errors.push(String(data)))
  const exit = once(child, 'close').then(([code]) => code as number | null)

  async function until<Found>(look: () => Found | undefined): Promise<Found> {
    for (;;) {
      const found = look()
      if (found !== undefined) return found
      const ended = await Promise.race([once(output, 'line').then(() => false), exit.then(() => true)])
      if (ended && look() === undefined) throw new Error(`the child has ended: ${errors.join('')}`)
    }
  }

  return {
    process: child,
    exit,
    onLine: listener => void output.on('line', listener),
    line: beginning => until(() => seen.find(line => line.startsWith(beginning))),
    lines: count => until(() => seen.length >= count || undefined).then(() => undefined),
  }
}

function integrity(driver: Driver, file: string): unknown {
  const database = driver.open(file)
  const result = database.prepare('pragma integrity_check').get()?.integrity_check
  database.close()
  return result
}
