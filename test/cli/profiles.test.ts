import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { catalog, startCannedBroker } from './canned-broker.ts'
import { createTestIo, makeFolder, runCli } from './test-io.ts'

const answers = { 'GET /v2/catalog': { status: 200, body: catalog } }
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`

/** A home of its own, and what commands in it ask two brokers with. */
async function makeHome() {
  const [one, other] = [await startCannedBroker(answers), await startCannedBroker(answers)]
  const home = await makeFolder()
  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    runCli(args, { cwd: home, env: { HOME: home, ...env } })
  const sent = () => [one, other].map(({ requests }) => requests.map(({ headers }) => headers.authorization))
  return { home, one, other, run, sent, file: join(home, '.config', 'purser', 'profiles.json') }
}

describe('purser profiles', () => {
  it('keeps a password that nobody else can read and no command prints', async () => {
    const { home, one, run, sent, file } = await makeHome()
    const io = createTestIo({ cwd: home, env: { HOME: home } })
    io.stdin.end('sesame\n')
    const args = ['profiles', 'set', 'prod', '--url', one.url, '--username', 'ops', '--ask-password']
    expect(await main(args, io)).toBe(0)
    expect(io.err()).toContain('purser profiles use prod')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const listed = await run(['profiles', 'list'])
    expect(listed.out).toBe(
      `  NAME  URL                     USER  PASSWORD\n  prod  ${one.url}  ops   kept\n`.replace(
        /URL +/,
        `URL${' '.repeat(one.url.length - 1)}`,
      ),
    )
    const asJson = await run(['profiles', 'list', '--output', 'json'])
    expect(`${io.out()}${io.err()}${listed.out}${asJson.out}`).not.toContain('sesame')
    expect((await run(['catalog', '--profile', 'prod'])).code).toBe(0)
    expect(sent()).toEqual([[basic('ops:sesame')], []])
  })

  it('is used where it is chosen, until it is removed', async () => {
    const { one, run, sent } = await makeHome()
    await run(['profiles', 'set', 'prod', '--url', one.url, '--username', 'ops', '--password-env', 'SECRET'])
    await run(['profiles', 'use', 'prod'])
    expect((await run(['profiles', 'list'])).out).toContain('\n* prod')
    expect((await run(['catalog'], { SECRET: 'open' })).code).toBe(0)
    expect(sent()).toEqual([[basic('ops:open')], []])
    const without = await run(['catalog'])
    expect(without).toMatchObject({ code: 1, err: expect.stringContaining('SECRET is not set') })
    await run(['profiles', 'remove', 'prod'])
    const gone = await run(['catalog', '--profile', 'prod'])
    expect(gone).toMatchObject({ code: 2, err: expect.stringContaining('there is no profile prod') })
    expect((await run(['profiles', 'list'])).out).toContain('There are no profiles')
  })

  it.each([
    ['--password-file', 'password.txt'],
    ['--password-command', 'cat password.txt'],
  ])('reads the password with %s %s', async (flag, value) => {
    const { home, one, run, sent } = await makeHome()
    await writeFile(join(home, 'password.txt'), 'from elsewhere\n')
    await run(['profiles', 'set', 'prod', '--url', one.url, '--username', 'ops', flag, value])
    await run(['catalog', '--profile', 'prod'])
    expect(sent()).toEqual([[basic('ops:from elsewhere')], []])
  })

  it('a command that fails shows nothing of what it printed', async () => {
    const { one, run } = await makeHome()
    const command = 'echo sesame; echo sesame >&2; exit 1'
    await run(['profiles', 'set', 'prod', '--url', one.url, '--username', 'ops', '--password-command', command])
    const { code, err } = await run(['catalog', '--profile', 'prod'])
    expect(err).toContain('its password command failed')
    expect(err).not.toContain('sesame')
    expect(code).toBe(1)
  })

  it('goes by flag, environment, file, in this order', async () => {
    const { one, other, run, sent } = await makeHome()
    await run(['profiles', 'set', 'one', '--url', one.url, '--username', 'a', '--password-env', 'A'])
    await run(['profiles', 'set', 'other', '--url', other.url, '--username', 'b', '--password-env', 'A'])
    await run(['profiles', 'use', 'one'])
    await run(['catalog'], { A: 'x', PURSER_PROFILE: 'other' })
    await run(['catalog', '--profile', 'one'], {
      A: 'x',
      PURSER_PROFILE: 'other',
      PURSER_URL: other.url,
      PURSER_USERNAME: 'env',
      PURSER_PASSWORD: 'y',
    })
    await run(['catalog'], { A: 'x', PURSER_USERNAME: 'env', PURSER_PASSWORD: 'y' })
    await run(['catalog', '--user', 'flag:z'], { PURSER_USERNAME: 'env', PURSER_PASSWORD: 'y' })
    expect(sent()).toEqual([[basic('a:x'), basic('env:y'), basic('flag:z')], [basic('b:x')]])
  })

  it('sends the credentials of a profile to no other address', async () => {
    const { one, other, run, sent } = await makeHome()
    await run(['profiles', 'set', 'one', '--url', one.url, '--username', 'a', '--password-env', 'A'])
    await run(['profiles', 'use', 'one'])
    await run(['catalog', '--url', other.url], { A: 'x' })
    await run(['catalog'], { A: 'x', PURSER_URL: other.url })
    expect(sent()).toEqual([[], [undefined, undefined]])
    const both = await run(['catalog', '--url', other.url, '--profile', 'one'], { A: 'x' })
    expect(both).toMatchObject({ code: 2, err: expect.stringContaining('--url and --profile exclude each other') })
  })

  it.each([
    [['set', 'new']],
    [['set', 'new', '--url', 'https://ops:secret@broker.example.com']],
    [['set', 'new', '--url', 'broker']],
    [['set', 'a b', '--url', 'https://broker.example.com']],
    [['set', 'new', '--url', 'https://broker.example.com', '--password-env', 'A', '--password-file', 'b']],
    [['use', 'none']],
    [['remove', 'none']],
  ])('%j is wrong usage', async args => {
    const { run, file } = await makeHome()
    const { code, err } = await run(['profiles', ...args])
    expect(err).not.toContain('secret')
    expect(code).toBe(2)
    await expect(stat(file)).rejects.toThrow()
  })

  it('a new way to the password replaces the one before; the rest stays', async () => {
    const { one, run } = await makeHome()
    await run(['profiles', 'set', 'prod', '--url', one.url, '--username', 'ops', '--password-env', 'A'])
    await run(['profiles', 'set', 'prod', '--password-command', 'echo x'])
    const { items } = JSON.parse((await run(['profiles', 'list', '--output', 'json'])).out)
    expect(items).toEqual([{ name: 'prod', current: false, url: one.url, username: 'ops', password: 'command' }])
  })
})
