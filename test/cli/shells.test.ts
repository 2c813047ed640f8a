/** The built command in real shells, and in a real terminal (tmux): what people see, and what programs read. */
import { execFile, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { useBuiltPackage } from './built-package.ts'
import { type CannedAnswer, catalog, startCannedBroker } from './canned-broker.ts'
import { makeFolder } from './test-io.ts'

const built = useBuiltPackage()
const run = promisify(execFile)
const has = (program: string, flag = '--version') => spawnSync(program, [flag]).error === undefined
const instances = { 'GET /admin/instances': { status: 200, body: { items: [{ id: 'db-1' }, { id: 'db-2' }] } } }

/** A folder in which `purser` is a command, and the environment for it. */
async function makePlace(url: string) {
  const home = await makeFolder()
  await mkdir(join(home, 'bin'))
  await symlink(built.bin, join(home, 'bin', 'purser'))
  return {
    home,
    env: { PATH: `${join(home, 'bin')}:${process.env.PATH}`, HOME: home, PURSER_URL: url, LANG: 'C.UTF-8' },
  }
}

describe('completion scripts', { timeout: 60_000 }, () => {
  /** What each shell offers for a line; the last word may be empty. */
  const shells = {
    bash: (script: string, words: readonly string[]) => [
      '--norc',
      '-c',
      `source ${script}; COMP_WORDS=(${words.map(word => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
       _purser purser; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ],
    zsh: (script: string, words: readonly string[]) => [
      '-f',
      '-c',
      `compdef() { : }; source ${script}; compadd() { print -rl -- $found }; _files() { : }
       words=(${words.map(word => `'${word}'`).join(' ')}); CURRENT=${words.length}; _purser`,
    ],
    fish: (script: string, words: readonly string[]) => [
      '-N',
      '-c',
      `source ${script}; complete -C '${words.join(' ')}'`,
    ],
  }

  describe.each(Object.entries(shells))('%s', (shell, toArguments) => {
    it.skipIf(!has(shell))(
      `completes verbs, options and live ids${has(shell) ? '' : ' (skipped: not installed)'}`,
      async () => {
        const broker = await startCannedBroker(instances)
        const place = await makePlace(broker.url)
        const { home } = place
        const env = { ...place.env, PURSER_COMPLETION_TIMEOUT: '1m' }
        const script = join(home, 'script')
        await writeFile(script, (await run('purser', ['completion', shell], { env })).stdout)
        const offered = async (...words: readonly string[]) =>
          (await run(shell, toArguments(script, ['purser', ...words]), { cwd: home, env })).stdout
            .split('\n')
            .filter(Boolean)
        expect(await offered('instances', 'mo')).toEqual(['move'])
        expect(await offered('catalog', '--output', 'jso')).toEqual(['json', 'jsonl'])
        expect(await offered('instances', 'show', '')).toEqual(['db-1', 'db-2'])
      },
    )
  })

  it('gives up soon where the broker is silent', async () => {
    const silent = createServer(() => {})
    await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      silent.closeAllConnections()
      silent.close()
    })
    const { env } = await makePlace(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`)
    // It would wait for a minute otherwise, and the test for no longer.
    expect(await run('purser', ['complete', '--', 'instances', 'show', ''], { env })).toEqual({
      stdout: '',
      stderr: '',
    })
  })
})

const noTmux = has('tmux', '-V') ? '' : ' (skipped: tmux is not installed)'

describe.skipIf(noTmux !== '')(`in a terminal${noTmux}`, { timeout: 60_000 }, () => {
  /** A terminal in which a line runs; it goes with the test. */
  async function openTerminal(url: string, line: string) {
    const { home, env } = await makePlace(url)
    const tmux = (...args: readonly string[]) =>
      run('tmux', ['-L', home.split('/').at(-1) ?? randomUUID(), '-f', '/dev/null', ...args], { env })
    await writeFile(join(home, 'line.sh'), `trap : INT\n${line}\necho "exit $?"\ncat\n`)
    await tmux('new-session', '-d', '-x', '120', '-y', '30', '-c', home, 'sh line.sh')
    onTestFinished(async () => void (await tmux('kill-server')))
    const screen = async () => (await tmux('capture-pane', '-p')).stdout.trimEnd()
    return {
      screen,
      type: (keys: string) => tmux('send-keys', keys, 'Enter'),
      async until(text: string | RegExp) {
        for (;;) {
          const seen = await screen()
          if (typeof text === 'string' ? seen.includes(text) : text.test(seen)) return seen
          await sleep(50)
        }
      },
    }
  }

  it('progress is one line in its place, and gone in the end', async () => {
    const poll = 'GET /v2/service_instances/db/last_operation'
    const answers: Record<string, CannedAnswer> = {
      'GET /v2/catalog': { status: 200, body: catalog },
      'PUT /v2/service_instances/db': { status: 202, body: { operation: 'op' } },
      [poll]: { status: 200, body: { state: 'in progress', description: 'made 1/4' }, headers: { 'retry-after': '1' } },
    }
    const broker = await startCannedBroker(answers)
    const terminal = await openTerminal(broker.url, 'purser provision postgres small --id db')
    const during = await terminal.until('made 1/4')
    expect(during).toMatch(/\S provision postgres\/small \d+s \[█{5}░{15}\] 25% {2}made 1\/4/)
    await terminal.until(/ [12]s \[/)
    expect((await terminal.screen()).match(/made 1\/4/g)).toHaveLength(1)
    answers[poll] = { status: 200, body: { state: 'succeeded' } }
    const after = await terminal.until('exit 0')
    expect(after).not.toContain('made 1/4')
    expect(after).toContain('state        succeeded')
  })

  const operation = {
    id: 'o1',
    action: 'provision',
    state: 'running',
    instance_id: 'db',
    accepted_at: '2026-01-01T00:00:00.000Z',
  }

  it('watch draws one table in its place; in a pipe it prints lines of JSON', async () => {
    const answers = { 'GET /admin/operations': { status: 200, body: { items: [operation] } } }
    const broker = await startCannedBroker(answers)
    const terminal = await openTerminal(broker.url, 'purser operations watch')
    await terminal.until('running')
    answers['GET /admin/operations'] = { status: 200, body: { items: [{ ...operation, state: 'succeeded' }] } }
    const after = await terminal.until('succeeded')
    expect(after.match(/OPERATION/g)).toHaveLength(1)
    expect(after).not.toContain('running')
    await terminal.type('C-c')
    await terminal.until('exit 130')

    const piped = await openTerminal(broker.url, 'purser operations watch | head -1')
    expect(await piped.until('"id"')).toContain('{"id":"o1","action":"provision","state":"succeeded"')
  })

  it.skipIf(!has('less'))('a long list is read in less; in a pipe it is printed', async () => {
    const items = Array.from({ length: 60 }, (_, index) => ({ ...operation, id: `operation-${index}` }))
    const broker = await startCannedBroker({ 'GET /admin/operations': { status: 200, body: { items } } })
    const terminal = await openTerminal(broker.url, 'purser operations list --limit 60')
    const first = await terminal.until('operation-20')
    expect(first).toContain('OPERATION')
    expect(first).not.toContain('operation-40')
    await terminal.type('G')
    expect(await terminal.until('operation-59')).not.toContain('exit')
    await terminal.type('q')
    await terminal.until('exit 0')

    const piped = await openTerminal(broker.url, 'purser operations list --limit 60 | tail -1')
    expect(await piped.until('exit 0')).toContain('operation-59')
  })

  it('a question is asked, and "no" is exit code 3', async () => {
    const broker = await startCannedBroker({})
    const terminal = await openTerminal(broker.url, 'purser instances abandon db --reason gone')
    await terminal.until('Abandon db? Nothing of it will be removed. [y/N]')
    await terminal.type('n')
    await terminal.until('exit 3')
    expect(broker.calls).toEqual([])
  })

  it('colours only where they are wanted', async () => {
    const line = `purser catalog 2>&1 | cat -v; script -qec 'purser catalog' /dev/null | cat -v; NO_COLOR=1 script -qec 'purser catalog' /dev/null | cat -v`
    const terminal = await openTerminal('http://127.0.0.1:1', line)
    const seen = await terminal.until('exit')
    expect(seen.match(/\^\[\[31merror:/g)).toHaveLength(1)
    expect(seen.match(/(?<!\[31m)error:/g)).toHaveLength(2)
  })
})
