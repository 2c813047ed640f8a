import assert from 'node:assert/strict'
import { never, only, type SandboxCase, sandboxCase, until } from './subject.ts'

const once = 'echo run >> "$BUNDLE_OUTPUT/message"'
const forever = 'echo ready > "$BUNDLE_OUTPUT/progress"; while :; do sleep 0.1; done'

export const lifeCases: readonly SandboxCase[] = [
  sandboxCase('starting one name many times at once runs it once', async ({ subject, runtime, spec }) => {
    const wanted = await spec(once)
    const others = await Promise.all([subject.open(), subject.open()])
    const started = await Promise.all([runtime, ...others, runtime].map(each => each.start(wanted)))
    assert.equal(started.filter(({ attached }) => !attached).length, 1)
    assert.deepEqual(await runtime.wait(only, never()), { kind: 'exited', code: 0 })
    assert.equal((await runtime.collect(only, [])).outputs.message, 'run')
  }),

  sandboxCase('starting what has ended runs nothing', async ({ subject, runtime, run, spec }) => {
    await run(`${once}; exit 3`)
    const later = await subject.open()
    assert.deepEqual(await later.start(await spec(once)), { attached: true })
    assert.deepEqual(await later.status(only), { kind: 'exited', code: 3 })
    assert.equal((await runtime.collect(only, [])).outputs.message, 'run')
  }),

  sandboxCase('another broker sees it run, waits for it and hears how it ended', async ({ subject, runtime, spec }) => {
    await runtime.start(await spec(`trap 'exit 5' TERM; ${forever}`))
    const other = await subject.open()
    assert.deepEqual(await other.status(only), { kind: 'running' })
    const waited = other.wait(only, never())
    await until(() => other.progress(only, []))
    await runtime.cancel(only, 60_000)
    assert.deepEqual(await waited, { kind: 'exited', code: 5, stopped: 'cancelled' })
  }),

  sandboxCase('a wait that is given up answers that it runs', async ({ runtime, spec }) => {
    await runtime.start(await spec(forever))
    const giveUp = new AbortController()
    const waited = runtime.wait(only, giveUp.signal)
    giveUp.abort()
    assert.deepEqual(await waited, { kind: 'running' })
  }),

  sandboxCase('what was never started is absent, and cancelling it is nothing', async ({ runtime }) => {
    assert.deepEqual(await runtime.status(only), { kind: 'absent' })
    assert.deepEqual(await runtime.wait(only, never()), { kind: 'absent' })
    await runtime.cancel(only, 0)
    assert.equal(await runtime.progress(only, []), undefined)
    assert.deepEqual(await runtime.list(), [])
  }),

  sandboxCase('exit codes come back as they are', async ({ run }) => {
    for (const code of [0, 1, 8, 75, 255])
      assert.deepEqual(await run(`exit ${code}`, { name: `exit-${code}` }), { kind: 'exited', code })
  }),

  sandboxCase('cancelling asks first', async ({ runtime, spec }) => {
    await runtime.start(await spec(`trap 'echo cleaned up > "$BUNDLE_OUTPUT/message"; exit 0' TERM; ${forever}`))
    await until(() => runtime.progress(only, []))
    await runtime.cancel(only, 60_000)
    assert.deepEqual(await runtime.wait(only, never()), { kind: 'exited', code: 0, stopped: 'cancelled' })
    assert.equal((await runtime.collect(only, [])).outputs.message, 'cleaned up')
  }),

  sandboxCase('what ignores signals is killed after the grace', async ({ runtime, spec }) => {
    await runtime.start(await spec(`trap '' TERM INT HUP; ${forever}`))
    await until(() => runtime.progress(only, []))
    await runtime.cancel(only, 300)
    assert.deepEqual(await runtime.wait(only, never()), { kind: 'exited', code: 137, stopped: 'cancelled' })
  }),

  sandboxCase('whatever it forks ends with it', async ({ subject, run }) => {
    const mark = `86400.${Math.floor(Math.random() * 1e9)}`
    const status = await run(
      `sleep ${mark} & setsid sleep ${mark} & (setsid sh -c "trap '' TERM; sleep ${mark}" &) & sleep 0.3; exit 0`,
    )
    assert.deepEqual(status, { kind: 'exited', code: 0 })
    assert.equal(subject.survivors(mark), 0)
  }),

  sandboxCase('all sandboxes are listed with their labels', async ({ runtime, run }) => {
    await run('exit 0', { name: 'first', labels: { 'purser.operation': 'a' } })
    await run('exit 0', { name: 'second', labels: { 'purser.operation': 'b' } })
    const found = [...(await runtime.list())].sort((a, b) => a.name.localeCompare(b.name))
    assert.deepEqual(
      found.map(({ name, labels }) => [name, labels['purser.operation']]),
      [
        ['first', 'a'],
        ['second', 'b'],
      ],
    )
    for (const { createdAt } of found) assert.ok(createdAt > 1_600_000_000_000)
  }),

  sandboxCase('a name that cannot be one is refused', async ({ runtime, spec }) => {
    for (const name of ['', '../up', 'Large', 'a/b', '-x', 'x'.repeat(64)])
      await assert.rejects(runtime.start(await spec(once, { name })), { name: 'SandboxRefusedError' })
  }),
]
