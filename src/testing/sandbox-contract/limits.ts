import assert from 'node:assert/strict'
import { only, type SandboxCase, sandboxCase } from './subject.ts'

/** Of a usual length: engines take their time for each. */
const line = '0123456789'.repeat(8)

export const limitCases: readonly SandboxCase[] = [
  sandboxCase('what never ends is stopped by its time', async ({ run }) => {
    const status = await run("trap 'exit 1' TERM; while :; do sleep 0.1; done", { limits: { time: 1_000 } })
    assert.ok(status.kind === 'exited' && status.stopped === 'time', JSON.stringify(status))
  }),

  sandboxCase('what prints a gigabyte is stopped by its output', async ({ run, runtime }) => {
    const status = await run(`yes ${line} | head -c 1000000000`, { limits: { time: 600_000, output: 5_000_000 } })
    assert.ok(status.kind === 'exited' && status.stopped === 'output', JSON.stringify(status))
    const { log } = await runtime.collect(only, [])
    // Its end; or why there is none, where others than the runtime have stopped it, and thrown its log away.
    assert.ok(log.includes('0123456789') || log.includes('Evicted: '), log.slice(-1_000))
    assert.ok(Buffer.byteLength(log) <= 64 * 1024)
  }),

  sandboxCase('of a long log the end is kept', async ({ run, runtime }) => {
    await run(`echo the beginning; yes ${line} | head -c 5000000; echo the end`, { limits: { time: 600_000 } })
    const { log } = await runtime.collect(only, [])
    assert.ok(log.endsWith('the end\n'), log.slice(-40))
    assert.ok(!log.includes('the beginning'))
    assert.ok(Buffer.byteLength(log) <= 64 * 1024)
  }),

  sandboxCase('what takes too much memory is killed', async ({ run }) => {
    const status = await run('head -c 500000000 /dev/zero | tail -c 400000000 > /dev/null; exit $?', {
      limits: { time: 600_000, memory: 64 * 1024 * 1024 },
    })
    // Not every engine tells what the kernel killed for.
    const { code, stopped } = status.kind === 'exited' ? status : { code: undefined }
    assert.ok(stopped === 'memory' || (stopped === undefined && code === 137), JSON.stringify(status))
  }),

  sandboxCase('what starts too many processes does not succeed', async ({ subject, run }) => {
    const mark = `86400.${Math.floor(Math.random() * 1e9)}`
    const status = await run(
      `set -e; i=0; while [ $i -lt 60 ]; do sleep ${mark} & i=$((i + 1)); done; sleep 1; [ $(ls -d /proc/[0-9]* | wc -l) -gt 60 ]`,
      { limits: { time: 600_000, processes: 20 } },
    )
    assert.ok(status.kind === 'exited' && (status.stopped === 'processes' || status.code !== 0), JSON.stringify(status))
    assert.equal(subject.survivors(mark), 0)
  }),

  sandboxCase('what forks without end ends', async ({ subject, run }) => {
    const mark = `86400.${Math.floor(Math.random() * 1e9)}`
    const status = await run(`bomb() { sleep ${mark} & bomb & bomb; }; bomb`, {
      limits: { time: 600_000, processes: 20 },
    })
    assert.ok(status.kind === 'exited' && status.code !== 0, JSON.stringify(status))
    assert.equal(subject.survivors(mark), 0)
  }),
]
