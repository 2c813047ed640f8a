import assert from 'node:assert/strict'
import type { SandboxOutputs } from '../../sandbox.ts'
import { only, type SandboxCase, sandboxCase } from './subject.ts'

export const outputCases: readonly SandboxCase[] = [
  sandboxCase('outputs come back', async ({ run, runtime }) => {
    await run(`cd "$BUNDLE_OUTPUT"
      echo '{"user":"me","port":5432}' > credentials.json
      echo 'https://example.com/db' > dashboard_url
      echo 'all is well' > message
      echo '{"name":"db1","count":2,"old":null}' > state.json
      echo '{"user":"app"}' > binding_state.json
      printf 'creating\\nstarting\\nhalf a li' > progress
      printf '0 it answers\\n1\\nit is slow\\n' > test-result`)
    const { outputs } = await runtime.collect(only, [])
    assert.deepEqual(present(outputs), {
      credentials: { user: 'me', port: 5432 },
      dashboardUrl: 'https://example.com/db',
      message: 'all is well',
      state: { name: 'db1', count: '2', old: null },
      bindingState: { user: 'app' },
      progress: 'starting',
      testResults: [
        { fail: false, message: 'it answers' },
        { fail: true, message: 'it is slow' },
      ],
      problems: [],
    })
  }),

  sandboxCase('without outputs there are none', async ({ run, runtime }) => {
    await run('exit 0')
    assert.deepEqual(present((await runtime.collect(only, [])).outputs), { problems: [] })
  }),

  sandboxCase('last words are the message where there is no other', async ({ run, runtime }) => {
    await run('echo "no room" > "$BUNDLE_OUTPUT/termination-log"; exit 1')
    assert.equal((await runtime.collect(only, [])).outputs.message, 'no room')
    await run('cd "$BUNDLE_OUTPUT"; echo one > message; echo two > termination-log', { name: 'both' })
    assert.equal((await runtime.collect('both', [])).outputs.message, 'one')
  }),

  sandboxCase('outputs that cannot be used are problems, and nothing of them is shown', async ({ run, runtime }) => {
    await run(`cd "$BUNDLE_OUTPUT"
      echo '{"password": sesame' > credentials.json
      ln -s /etc/passwd message
      echo 'javascript:alert(1)' > dashboard_url
      head -c 50000000 /dev/zero > state.json
      mkdir binding_state.json
      mkfifo progress`)
    const { outputs } = await runtime.collect(only, [])
    assert.equal(outputs.problems.length, 5, outputs.problems.join('\n'))
    assert.match(outputs.problems.join('\n'), /credentials\.json is not a JSON object/)
    assert.match(outputs.problems.join('\n'), /message is a symbolic link/)
    assert.match(outputs.problems.join('\n'), /state\.json has 50000000 bytes/)
    assert.match(outputs.problems.join('\n'), /dashboard_url is not an http/)
    assert.match(outputs.problems.join('\n'), /binding_state\.json is not a plain file/)
    assert.ok(!JSON.stringify(outputs).includes('sesame'))
    assert.deepEqual(Object.keys(present(outputs)), ['problems'])
  }),

  sandboxCase('secrets are cut out of what people read', async ({ run, runtime }) => {
    const secret = 'open "sesame" 123'
    await run(
      `cat "\${3#@}"; cat "$BUNDLE_STATE/key"; cat "$BUNDLE_STATE/key" > "$BUNDLE_OUTPUT/message"; echo printed`,
      {
        inputs: { extraVars: { password: secret }, state: { key: secret } },
      },
    )
    const { log, outputs } = await runtime.collect(only, [secret])
    assert.ok(log.includes('printed'))
    assert.ok(!log.includes('sesame'), log)
    assert.equal(outputs.message, '[redacted]')
  }),

  sandboxCase('outputs are not read through pipes and links, nor without an end', async ({ run, runtime }) => {
    await run(`cd "$BUNDLE_OUTPUT"
      mkfifo message
      ln -s "$BUNDLE_INPUT" credentials.json
      ln -s / binding_state.json
      rm termination-log; ln -s /dev/zero termination-log
      head -c 50000000 /dev/zero | tr '\\0' ' ' > state.json
      ln -s /etc/passwd progress`)
    const { outputs } = await runtime.collect(only, [])
    assert.deepEqual(Object.keys(present(outputs)), ['problems'])
    assert.equal(outputs.problems.length, 5, outputs.problems.join('\n'))
    assert.equal(await runtime.progress(only, []), undefined)
  }),

  sandboxCase('progress is shown without the secrets', async ({ run, runtime }) => {
    await run(`echo "the password is $(cat "$BUNDLE_STATE/key")" > "$BUNDLE_OUTPUT/progress"`, {
      inputs: { state: { key: 'sesame' } },
    })
    assert.equal(await runtime.progress(only, ['sesame']), 'the password is [redacted]')
    assert.equal((await runtime.collect(only, ['sesame'])).outputs.progress, 'the password is [redacted]')
  }),
]

/** A key without a value is as good as absent. */
function present(outputs: SandboxOutputs): object {
  return JSON.parse(JSON.stringify(outputs))
}
