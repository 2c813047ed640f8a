import { describe, expect, it } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { catalog, startCannedBroker } from './canned-broker.ts'
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
    [['catalog', '--url', 'localhost:8080'], 'A broker URL looks like', 'next: Give --url, or PURSER_URL'],
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
    expect({ code, out: io.out() }).toEqual({ code: 1, out: '' })
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
