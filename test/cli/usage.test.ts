import { describe, expect, it } from 'vitest'
import { createProgram, main } from '../../src/cli/main.ts'
import { optionsOf } from '../../src/cli/verbs-first.ts'
import { type CannedAnswers, catalog, startCannedBroker } from './canned-broker.ts'
import { createTestIo, makeFolder, runCli } from './test-io.ts'

const commands = [
  'serve',
  'init',
  'hash-password',
  'catalog',
  'provision',
  'update',
  'bind',
  'credentials',
  'unbind',
  'deprovision',
  'status',
  'chores',
  'registries',
  'operations',
  'bundle',
]

describe('help', () => {
  it('lists every command', async () => {
    const { code, out, err } = await runCli(['--help'])
    for (const command of commands) expect(out).toMatch(new RegExp(`^  ${command}\\b`, 'm'))
    expect({ code, err }).toEqual({ code: 0, err: '' })
  })

  it.each(commands)('of %s has examples', async command => {
    const { code, out } = await runCli([command, '--help'])
    expect(out).toContain(`\nExamples:\n  $ purser ${command}`)
    expect(code).toBe(0)
  })

  it.each(['provision', 'update', 'bind', 'unbind', 'deprovision'])('of %s tells of the memory', async command => {
    expect((await runCli([command, '--help'])).out).toContain('.purser/cli.json')
  })

  it('the version is printed', async () => {
    expect((await runCli(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})

describe('wrong usage is exit code 2 and tells what to do', () => {
  it.each([
    [['provison', 'a', 'b'], "unknown command 'provison'", 'Did you mean provision?'],
    [['catalog', '--outptu', 'json'], "unknown option '--outptu'", 'Did you mean --output?'],
    [['catalog', '--output', 'xml'], 'Allowed choices are text, json', ''],
    [['catalog', 'too', 'many'], 'too many arguments', ''],
    [['provision', 'postgres'], "missing required argument 'plan'", ''],
    [['serve', '--port', '99999'], 'A port is a number from 0 to 65535.', ''],
    [['catalog', '--url', 'localhost:8080'], 'A broker URL looks like', 'next: Give --url, PURSER_URL or a profile'],
    [['catalog', '--user', 'nobody'], '--user needs a name and a password', 'next: Write --user name:password'],
    [['catalog', '--user', 'a:b', '--token', 't'], '--user and --token exclude each other', ''],
    [['provision', 'a', 'b', '--timeout', 'soon'], '--timeout is not a duration', 'next: Write a number and a unit'],
    [['provision', 'a', 'b', '--params', '[]'], '--params is not a JSON object', ''],
    [['provision', 'a', 'b', '--param', 'x'], '--param needs a key and a value', ''],
    [['chores'], 'Usage: purser chores', 'run [options] <name>'],
    [['chores', 'runn', 'purge'], "unknown command 'runn'", 'Did you mean run?'],
    [['chores', 'run'], "missing required argument 'name'", ''],
    [['chores', 'run', ''], 'a URL cannot hold it', ''],
    [['deprovision', '..'], '".." cannot be the id of an instance', ''],
  ])('%j', async (args, what, next) => {
    const { code, out, err } = await runCli(args)
    expect(err).toContain(what)
    expect(err).toContain(next)
    expect({ code, out }).toEqual({ code: 2, out: '' })
  })

  it('no command at all', async () => {
    const { code, out, err } = await runCli([])
    expect(err).toContain('Usage: purser')
    expect({ code, out }).toEqual({ code: 2, out: '' })
  })

  it('an unknown service or plan, with those there are', async () => {
    const broker = await startCannedBroker({ 'GET /v2/catalog': { status: 200, body: catalog } })
    const options = { cwd: await makeFolder(), env: { PURSER_URL: broker.url } }
    const service = await runCli(['provision', 'mysql', 'small'], options)
    expect(service).toMatchObject({ code: 2, err: expect.stringContaining('why: the broker offers postgres, cache\n') })
    const plan = await runCli(['provision', 'postgres', 'huge'], options)
    expect(plan).toMatchObject({ code: 2, err: expect.stringContaining('why: its plans are small, large\n') })
  })
})

describe('options before the verb', () => {
  it.each([
    [['--url', 'URL', 'catalog', '--output', 'json']],
    [['--output=json', '--url', 'URL', 'catalog']],
    [['--output', 'json', 'catalog', '--url', 'URL']],
  ])('%j', async args => {
    const broker = await startCannedBroker({ 'GET /v2/catalog': { status: 200, body: catalog } })
    const { code, out } = await runCli(args.map(arg => (arg === 'URL' ? broker.url : arg)))
    expect(JSON.parse(out)).toEqual(catalog)
    expect(code).toBe(0)
  })

  it('before and between the verbs of a group, with a value that is called like a verb', async () => {
    const broker = await startCannedBroker({ 'GET /admin/chores': { status: 200, body: { chores: [] } } })
    const args = ['--token', 'chores', 'chores', '--output', 'json', 'list', '--url', broker.url]
    expect(await runCli(args)).toMatchObject({ code: 0, out: '{\n  "chores": []\n}\n' })
    expect(broker.requests[0]?.headers.authorization).toBe('Bearer chores')
  })

  it.each([
    [['--help', 'provision'], 0, 'Usage: purser provision'],
    [['--output', 'json', '--outptu', 'x', 'catalog'], 2, "unknown option '--outptu'"],
    [['--url', 'http://x', 'catalogue'], 2, 'Did you mean catalog?'],
    [['--config', 'none.yaml', 'serve'], 2, 'none.yaml'],
    [['--url', 'http://x'], 2, 'Usage: purser [options] [command]'],
  ])('%j', async (args, code, text) => {
    const result = await runCli(args)
    expect(`${result.out}${result.err}`).toContain(text)
    expect(result.code).toBe(code)
  })

  it('an option takes a value in every command or in none', async () => {
    const program = await createProgram(createTestIo(), [])
    const kinds = new Map<string, Set<boolean>>()
    for (const { long, required } of optionsOf(program))
      kinds.set(long ?? '', (kinds.get(long ?? '') ?? new Set()).add(required))
    expect([...kinds].filter(([, both]) => both.size > 1)).toEqual([])
    expect(kinds.size).toBeGreaterThan(20)
  })
})

describe('a failure with --output json', () => {
  const put = 'PUT /v2/service_instances/db'
  const poll = 'GET /v2/service_instances/db/last_operation'
  const ok = { 'GET /v2/catalog': { status: 200, body: catalog } }

  async function fail(args: readonly string[], answers: CannedAnswers) {
    const broker = await startCannedBroker({ ...ok, ...answers })
    const result = await runCli([...args, '--output', 'json'], {
      cwd: await makeFolder(),
      env: { PURSER_URL: broker.url },
    })
    return { ...result, body: JSON.parse(result.out) }
  }
  const provision = ['provision', 'postgres', 'small', '--id', 'db']

  it('is one JSON document on stdout; people read the same on stderr', async () => {
    const failed = { status: 200, body: { state: 'failed', description: 'no room left' } }
    const { code, body, err } = await fail(provision, {
      [put]: { status: 202, body: { operation: 'op-1' } },
      [poll]: failed,
    })
    expect(body).toEqual({
      error: 'could not provision postgres/small',
      why: 'operation op-1 failed: no room left',
      next: 'purser deprovision db removes what is left; then try again.',
      instance_id: 'db',
      operation: 'op-1',
      state: 'failed',
    })
    expect(err).toContain('error: could not provision postgres/small\n')
    expect(code).toBe(5)
  })

  it.each([
    ['--output', 'jsonl'],
    ['--output=jsonl', ''],
  ])('%s %s: it is one line', async (...output) => {
    const { out, code } = await runCli(['status', 'nope', ...output.filter(Boolean), '--outptu'], {
      cwd: await makeFolder(),
    })
    expect(out.trimEnd().split('\n')).toHaveLength(1)
    expect(JSON.parse(out)).toHaveProperty('error')
    expect(code).toBe(2)
  })

  it('knows the instance when the broker refuses, or breaks off', async () => {
    const refused = await fail(provision, { [put]: { status: 422, body: { error: 'ConcurrencyError' } } })
    expect(refused.body).toEqual({
      error: 'could not provision postgres/small',
      why: 'the broker answered 422 ConcurrencyError',
      next: expect.stringContaining('purser status db'),
      instance_id: 'db',
    })
    const brokenOff = await fail(provision, { [put]: 'hang up' })
    expect(brokenOff.body).toMatchObject({ error: 'the broker could not be reached', instance_id: 'db' })
  })

  it.each([
    [['provision', 'postgres'], { error: "missing required argument 'plan'" }],
    [['catalog', '--user', 'nobody'], { error: '--user needs a name and a password' }],
    [['frobnicate'], { error: "unknown command 'frobnicate'" }],
    [[], { error: 'there is no command' }],
  ])('wrong usage: %j', async (args, expected) => {
    const { code, body } = await fail(args, {})
    expect(body).toMatchObject({ ...expected, next: expect.any(String) })
    expect(code).toBe(2)
  })
})

describe('purser hash-password', () => {
  it('hashes what is piped in, without its line end', async () => {
    const { verifyPassword, parsePasswordHash } = await import('../../src/authenticator/password.ts')
    const io = createTestIo()
    io.stdin.end('päss word\n')
    expect(await main(['hash-password'], io)).toBe(0)
    expect(io.out()).toMatch(/^\S+\n$/)
    expect(io.err()).toBe('')
    expect(await verifyPassword('päss word', parsePasswordHash(io.out().trim()))).toBe(true)
  })

  it('asks twice on a terminal and shows nothing', async () => {
    const { code, io } = await typeIn('sesame\r', 'sesame\r')
    expect(io.err()).toBe('Password: \nOnce more: \n')
    expect(io.out()).not.toContain('sesame')
    expect(code).toBe(0)
  })

  it('refuses two that differ, and an empty one', async () => {
    const different = await typeIn('sesame\r', 'sesam\r')
    expect(different.io.err()).toContain('why: the two passwords differ')
    expect(different.code).toBe(2)
    const empty = await typeIn('\r')
    expect(empty.io.err()).toContain('there is no password')
    expect(empty.code).toBe(2)
  })

  it('ends at Ctrl-C', async () => {
    const { code, io } = await typeIn('half\u0003')
    expect(io.err()).toContain('why: interrupted')
    expect({ code, out: io.out() }).toEqual({ code: 130, out: '' })
  })
})

/** Types an answer whenever a question is asked. */
async function typeIn(...answers: string[]) {
  const io = createTestIo({
    onErr: text => {
      if (text.endsWith(': ')) setImmediate(() => io.stdin.write(answers.shift() ?? ''))
    },
  })
  io.stdin.isTTY = true
  return { code: await main(['hash-password'], io), io }
}
