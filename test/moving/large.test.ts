import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, statSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { linesOf } from '../../src/broker/moving/lines.ts'
import { toCanonicalJson } from '../../src/protocol/json.ts'
import { describePostgres } from '../store/postgres-subject.ts'
import { testFolder } from '../store/sqlite-drivers.ts'

const instances = process.env.PURSER_TEST_LONG === '1' ? 100_000 : 5_000
/** A fraction of what the rows take: they must not all be in memory. */
const heap = '--max-old-space-size=96'

const script = join(import.meta.dirname, 'large-ledger.ts')
const argumentsOf = (...args: readonly string[]) => [heap, '--import', 'tsx', script, ...args]

async function run(...args: readonly string[]) {
  return promisify(execFile)(process.execPath, argumentsOf(...args), { maxBuffer: 1_000_000 })
}

async function exportTo(file: string, store: string): Promise<void> {
  const child = spawn(process.execPath, argumentsOf('export', store), { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<number | null>(resolve => child.once('exit', resolve))
  await pipeline(child.stdout, createWriteStream(file))
  expect(await ended).toBe(0)
}

/** Equal for the same rows, whatever their order. */
async function sumOf(file: string) {
  let sum = 0n
  let rows = 0
  for await (const text of linesOf(createReadStream(file))) {
    const { line: _line, ...row } = JSON.parse(text)
    if ('header' in row || 'check' in row || 'end' in row || 'ledger' in row) continue
    const hash = createHash('sha256').update(toCanonicalJson(row)).digest().readBigUInt64LE()
    sum = BigInt.asUintN(64, sum + hash)
    rows += 1
  }
  return { sum, rows }
}

describePostgres('a large ledger', server => {
  it(`of ${instances} instances goes from SQLite to PostgreSQL and back, with little memory`, {
    timeout: 900_000,
  }, async () => {
    const folder = testFolder()
    const at = (name: string) => join(folder, name)
    await run('make', at('a.db'), String(instances))
    await exportTo(at('1'), `sqlite:${at('a.db')}`)
    await run('import', server.url, at('1'))
    await exportTo(at('2'), server.url)
    await run('import', `sqlite:${at('b.db')}`, at('2'))
    await exportTo(at('3'), `sqlite:${at('b.db')}`)
    const first = await sumOf(at('1'))
    expect(first.rows).toBe(5 * instances)
    expect(await sumOf(at('2'))).toEqual(first)
    expect(await sumOf(at('3'))).toEqual(first)
    expect(statSync(at('1')).size).toBeGreaterThan(instances * 1_500)
  })
})
