import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { expected, switches, withOwner, withReuse } from './expected.ts'

const model = join(import.meta.dirname, 'preempt.pml')
const design = join(import.meta.dirname, '..', '..', 'docs', 'designs', '0004-preemption.md')

const missing = ['spin', 'gcc'].filter(tool => spawnSync(tool, ['--version']).error !== undefined)
const skipped = missing.length === 0 ? '' : ` (skipped: ${missing.join(' and ')} not installed)`

interface Verdict {
  readonly holds: boolean
  readonly states: number
}

/** Makes a verifier of the model with these switches, and runs it over all that can happen. */
function verify(on: readonly string[]): Verdict {
  const cwd = mkdtempSync(join(tmpdir(), 'purser-spin-'))
  try {
    execFileSync('spin', [...on.map(name => `-D${name}`), '-a', model], { cwd })
    execFileSync('gcc', ['-O0', '-w', '-DSAFETY', '-o', 'pan', 'pan.c'], { cwd })
    const output = execFileSync(join(cwd, 'pan'), ['-m100000'], { cwd, encoding: 'utf8' })
    const errors = /errors: (\d+)/.exec(output)?.[1]
    const states = /(\d+) states, stored/.exec(output)?.[1]
    // A search that was cut short has shown nothing.
    if (errors === undefined || states === undefined || /max search depth too small|out of memory/.test(output))
      throw new Error(`the verifier did not come to an end:\n${output}`)
    return { holds: errors === '0', states: Number(states) }
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}

describe.skipIf(missing.length > 0)(
  `a DELETE that takes over from a provision, in all its interleavings${skipped}`,
  () => {
    for (const { on, holds, because } of [...expected, ...withOwner, ...withReuse]) {
      const guards = on.join(' ') || 'no guard'
      it(`${guards}: ${because}`, () => {
        const verdict = verify(on)
        console.log(`${guards}: ${verdict.holds ? 'holds' : 'violated'}, ${verdict.states} states`)
        expect(verdict.holds).toBe(holds)
      })
      // Else a claim about the end would hold for want of one.
      if (holds) it(`${guards}: the end is reached`, () => expect(verify([...on, 'PROBE']).holds).toBe(false))
    }
  },
)

describe('the table of the design', () => {
  it('is the one that is checked', () => {
    const rows = readFileSync(design, 'utf8')
      .split('\n')
      .filter(line => /^\| (?:yes|no) /.test(line))
      .map(line => line.split('|').map(cell => cell.trim()))
      .map(cells => ({
        on: switches.filter((_, index) => cells[index + 1] === 'yes'),
        holds: cells[switches.length + 1]?.startsWith('holds'),
        because: cells[switches.length + 2],
      }))
    expect(rows).toEqual(expected)
  })
})
