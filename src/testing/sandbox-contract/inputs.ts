import assert from 'node:assert/strict'
import { only, type SandboxCase, sandboxCase } from './subject.ts'

export const inputCases: readonly SandboxCase[] = [
  sandboxCase('an action gets its inputs as files', async ({ run, runtime }) => {
    const status = await run(
      `cp "$BUNDLE_INPUT" "$BUNDLE_OUTPUT/credentials.json"; cp "\${3#@}" "$BUNDLE_OUTPUT/state.json"`,
      {
        inputs: { input: { action: 'provision', note: 'grüß "dich"' }, extraVars: { size: 3 } },
      },
    )
    assert.deepEqual(status, { kind: 'exited', code: 0 })
    const { outputs } = await runtime.collect(only, [])
    assert.deepEqual(outputs.credentials, { action: 'provision', note: 'grüß "dich"' })
    assert.deepEqual(outputs.state, { size: '3', _apb_state: '{}' })
    assert.deepEqual(outputs.problems, [])
  }),

  sandboxCase('the state comes as files and as variables', async ({ run, runtime }) => {
    const state = { url: 'http://db', 'dotted.key': 'two\nlines', long: 'x'.repeat(40_000) }
    await run(
      `cp "\${3#@}" "$BUNDLE_OUTPUT/state.json"; cd "$BUNDLE_STATE"; { env | grep -c state_; cat dotted.key; echo; wc -c < long; } > "$BUNDLE_OUTPUT/message"`,
      { inputs: { state } },
    )
    const { outputs } = await runtime.collect(only, [])
    // No variables of the environment: a container engine shows those to everybody who may ask it.
    assert.equal(outputs.message, '0\ntwo\nlines\n40000')
    const { url, long } = state
    assert.deepEqual(outputs.state, { state_url: url, state_long: long, _apb_state: JSON.stringify(state) })
  }),

  sandboxCase('the state of a binding comes beside that of the instance', async ({ run, runtime }) => {
    const script = `cp "\${3#@}" "$BUNDLE_OUTPUT/credentials.json"; cat "$BUNDLE_STATE/user" "$BUNDLE_BINDING_STATE/user" > "$BUNDLE_OUTPUT/message"`
    await run(script, { inputs: { state: { user: 'admin,' }, bindingState: { user: 'app,' } } })
    const { message, credentials } = (await runtime.collect(only, [])).outputs
    assert.equal(message, 'admin,app,')
    assert.deepEqual(credentials, { state_user: 'admin,', binding_state_user: 'app,', _apb_state: { user: 'admin,' } })
    await run('[ -n "$BUNDLE_BINDING_STATE" ] || echo none > "$BUNDLE_OUTPUT/message"', { name: 'about-the-instance' })
    assert.equal((await runtime.collect('about-the-instance', [])).outputs.message, 'none')
  }),

  sandboxCase('helpers can be run and read, and not be changed', async ({ run, runtime }) => {
    const status = await run(
      `(echo no > "$BUNDLE_HELPERS/bin/greet") 2>/dev/null && exit 1
      [ -x "$BUNDLE_HELPERS/ansible/library/module.py" ] && exit 2
      { "$BUNDLE_HELPERS/bin/greet" you; cat "$BUNDLE_HELPERS/ansible/library/module.py"
      echo "$ANSIBLE_ROLES_PATH $ANSIBLE_LIBRARY $ANSIBLE_LOOKUP_PLUGINS" | sed "s|$BUNDLE_HELPERS|H|g"; } > "$BUNDLE_OUTPUT/message"`,
      {
        inputs: {
          helpers: { 'bin/greet': '#!/bin/sh\necho "hello $1"\n', 'ansible/library/module.py': 'a module\n' },
          env: { ANSIBLE_LOOKUP_PLUGINS: '/my/own' },
        },
      },
    )
    assert.deepEqual(status, { kind: 'exited', code: 0 })
    const { message } = (await runtime.collect(only, [])).outputs
    const roles = 'H/ansible/roles:/etc/ansible/roles:/opt/ansible/roles:/usr/share/ansible/roles'
    assert.equal(message, `hello you\na module\n${roles} H/ansible/library /my/own`)
  }),

  sandboxCase('helpers stay in their folder', async ({ runtime, spec }) => {
    for (const path of ['../up', '/etc/x', 'a//b', 'a/../../b', ''])
      await assert.rejects(runtime.start(await spec('exit 0', { inputs: { helpers: { [path]: 'x' } } })), {
        name: 'SandboxRefusedError',
      })
    assert.deepEqual(await runtime.list(), [])
  }),

  sandboxCase('there is a home and a temporary folder to write to', async ({ run }) => {
    const status = await run(
      'mkdir -p ~/.ansible/tmp && echo x > "$HOME/.ansible/tmp/file" && echo x > "$TMPDIR/file" ',
    )
    assert.deepEqual(status, { kind: 'exited', code: 0 })
  }),

  sandboxCase(
    'variables without a secret stand in the arguments, as older bundles expect them',
    async ({ run, runtime }) => {
      const extraVars = { size: 3, note: `it's  "new"` }
      await run(`printf %s "$3" > "$BUNDLE_OUTPUT/credentials.json"`, { inputs: { extraVars, open: true } })
      assert.deepEqual((await runtime.collect(only, [])).outputs.credentials, { ...extraVars, _apb_state: {} })
    },
  ),

  sandboxCase('no process in it has what is secret in its arguments or variables', async ({ run, runtime }) => {
    // The word is put together by the shell itself, so that the search does not find itself.
    const search = `printf '%s-%s\n' canary given > "$TMPDIR/word"
      grep -alf "$TMPDIR/word" /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | wc -l > "$BUNDLE_OUTPUT/message"
      grep -clf "$TMPDIR/word" "$BUNDLE_INPUT" "\${3#@}" "$BUNDLE_STATE/key" >> "$BUNDLE_OUTPUT/message"`
    await run(search, {
      inputs: {
        input: { password: 'canary-given' },
        extraVars: { password: 'canary-given' },
        state: { key: 'canary-given' },
        bindingState: { key: 'canary-given' },
        secrets: [{ name: 'one', entries: { token: 'canary-given' } }],
      },
    })
    const [found, ...files] = (await runtime.collect(only, [])).outputs.message?.split('\n') ?? []
    assert.equal(found, '0')
    // In its files it is, for its user alone.
    assert.equal(files.length, 3)
  }),

  sandboxCase('arguments hold the action and no values', async ({ run, runtime }) => {
    await run(`echo "$1 $2 \${3%%/*} $#" > "$BUNDLE_OUTPUT/message"`, {
      inputs: { action: 'bind', extraVars: { password: 'sesame-open' } },
    })
    assert.equal((await runtime.collect(only, [])).outputs.message, 'bind --extra-vars @ 3')
  }),

  sandboxCase('inputs cannot be changed, and nobody is root', async ({ run, runtime }) => {
    const status = await run(
      '(echo no > "$BUNDLE_INPUT") 2>/dev/null && exit 1; (echo no > "$BUNDLE_STATE/new") 2>/dev/null && exit 2; id -u > "$BUNDLE_OUTPUT/message"',
    )
    assert.deepEqual(status, { kind: 'exited', code: 0 })
    assert.notEqual((await runtime.collect(only, [])).outputs.message, '0')
  }),

  sandboxCase('the broker’s own variables stay with the broker', async ({ run, runtime }) => {
    await run('env | cut -d= -f1 > "$BUNDLE_OUTPUT/message"', { inputs: { env: { HTTP_PROXY: 'http://proxy' } } })
    const names = (await runtime.collect(only, [])).outputs.message?.split('\n') ?? []
    assert.ok(names.includes('HTTP_PROXY'))
    const foreign = names.filter(name => /VITEST|npm_|NODE_/i.test(name))
    assert.deepEqual(foreign, [])
  }),

  {
    ...sandboxCase('without a network there is no way out', async ({ run, runtime }) => {
      await run(
        'tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " " | grep -v "^lo$" > "$BUNDLE_OUTPUT/message"; exit 0',
      )
      assert.equal((await runtime.collect(only, [])).outputs.message, undefined)
    }),
    needsIsolation: true,
  },
]
