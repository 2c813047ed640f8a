import assert from 'node:assert/strict'
import type { Runtime } from '../../sandbox.ts'
import { never, only, type SandboxCase, sandboxCase, until } from './subject.ts'

const once = 'echo run >> "$BUNDLE_OUTPUT/message"'

export const removalCases: readonly SandboxCase[] = [
  sandboxCase('removing ends what runs and leaves nothing', async ({ subject, runtime, spec }) => {
    const mark = `86400.${Math.floor(Math.random() * 1e9)}`
    const forever = 'echo ready > "$BUNDLE_OUTPUT/progress"; while :; do sleep 0.1; done'
    await runtime.start(await spec(`trap '' TERM; setsid sleep ${mark} & ${forever}`))
    await until(() => runtime.progress(only, []))
    await runtime.remove(only)
    await expectGone(runtime)
    assert.equal(subject.survivors(mark), 0)
    assert.deepEqual(await subject.leftovers(), [])
  }),

  sandboxCase('a removed name cannot be started again, whoever tries', async ({ subject, runtime, run, spec }) => {
    await run('exit 3')
    await runtime.remove(only)
    for (const each of [runtime, await subject.open()]) {
      await assert.rejects(each.start(await spec(once)), { name: 'SandboxRefusedError', message: /was removed/ })
      await expectGone(each)
    }
    await runtime.remove(only)
    assert.deepEqual(await subject.leftovers(), [])
  }),

  sandboxCase('a name that was removed before it was started cannot be started', async ({ subject, runtime, spec }) => {
    await runtime.remove(only)
    await assert.rejects((await subject.open()).start(await spec(once)), { name: 'SandboxRefusedError' })
    await expectGone(runtime)
    assert.deepEqual(await subject.leftovers(), [])
  }),

  sandboxCase('what is removed while it is being started does not run on', async ({ subject, runtime, spec }) => {
    const mark = `86400.${Math.floor(Math.random() * 1e9)}`
    const wanted = await spec(`sleep ${mark}`)
    const others = await Promise.all([subject.open(), subject.open()])
    await Promise.all([...others.map(each => each.start(wanted).catch(expectRefusal)), runtime.remove(only)])
    await assert.rejects(runtime.start(wanted), { name: 'SandboxRefusedError' })
    await expectGone(runtime)
    assert.equal(subject.survivors(mark), 0)
    assert.deepEqual(await subject.leftovers(), [])
  }),

  sandboxCase('a removed name is free again after an hour', async ({ subject, runtime, run }) => {
    await run('exit 3')
    await runtime.remove(only)
    const later = await subject.open(3_700_000)
    assert.deepEqual(await later.list(), [])
    assert.deepEqual(await run('exit 4'), { kind: 'exited', code: 4 })
  }),

  sandboxCase('whatever a bundle leaves is cleared away', async ({ subject, runtime, run }) => {
    const long = 'd'.repeat(200)
    const status = await run(`mkdir "$HOME/left"
      for place in "$BUNDLE_OUTPUT" "$HOME/left"; do
        cd "$place"
        mkdir "$(printf 'no-\\377-text')"; touch "$(printf 'no-\\377-text/\\376')"
        ln -s / root; mkfifo pipe; mkdir closed; touch closed/file; chmod 0 closed
        mkdir ${long}
        i=0; while [ $i -lt 30 ]; do mkdir next && mv ${long} next && mv next ${long} || exit 1; i=$((i + 1)); done
        chmod 0 .
      done`)
    assert.deepEqual(status, { kind: 'exited', code: 0 })
    await runtime.remove(only)
    await expectGone(runtime)
    assert.deepEqual(await subject.leftovers(), [])
  }),
]

async function expectGone(runtime: Runtime): Promise<void> {
  assert.deepEqual(await runtime.status(only), { kind: 'absent' })
  assert.deepEqual(await runtime.wait(only, never()), { kind: 'absent' })
  assert.equal(await runtime.progress(only, []), undefined)
  assert.deepEqual(await runtime.list(), [])
}

function expectRefusal(error: unknown): void {
  assert.ok(error instanceof Error && error.name === 'SandboxRefusedError', String(error))
}
