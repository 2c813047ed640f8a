import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { copyUnbuilt, runNode, useBuiltPackage } from './built-package.ts'
import { catalog, findFreePort, startCannedBroker } from './canned-broker.ts'
import { makeFolder } from './test-io.ts'

const built = useBuiltPackage()
const running = {
  status: 200,
  body: { state: 'in progress', description: 'starting' },
  headers: { 'retry-after': '1' },
}
const answers = {
  'GET /v2/catalog': { status: 200, body: catalog },
  'PUT /v2/service_instances/db': { status: 202, body: { operation: 'op' } },
}
const poll = 'GET /v2/service_instances/db/last_operation'

describe('the built command', { timeout: 60_000 }, () => {
  it('stays alive between polls and ends with the operation', async () => {
    const broker = await startCannedBroker({
      ...answers,
      [poll]: [running, { status: 200, body: { state: 'succeeded' } }],
    })
    const args = ['provision', 'postgres', 'small', '--id', 'db', '--output', 'json']
    const result = await runNode(built.bin, args, { cwd: await makeFolder(), env: { PURSER_URL: broker.url } })
    expect(result.err).toBe('instance db\nprovision postgres/small: starting\n')
    expect(JSON.parse(result.out)).toMatchObject({ instance_id: 'db', state: 'succeeded' })
    expect(result.code).toBe(0)
  })

  it('Ctrl-C stops the waiting with exit code 130', async () => {
    const forever = { ...running, headers: { 'retry-after': '600' } }
    const broker = await startCannedBroker({ ...answers, [poll]: forever })
    const result = await runNode(built.bin, ['provision', 'postgres', 'small', '--id', 'db'], {
      cwd: await makeFolder(),
      env: { PURSER_URL: broker.url },
      onErr: (text, kill) => {
        if (text.endsWith('starting\n')) kill('SIGINT')
      },
    })
    expect(result.err).toContain('next: purser status db shows how it ends.')
    expect(result.err).toContain('the broker goes on with operation op')
    expect(result).toMatchObject({ code: 130, out: '' })
  })

  it('exit code 1 when the broker cannot be reached, 2 for wrong usage', async () => {
    const cwd = await makeFolder()
    const url = `http://127.0.0.1:${await findFreePort()}`
    const unreachable = await runNode(built.bin, ['catalog', '--url', url], { cwd })
    expect(unreachable.err).toBe(
      [
        'error: the broker could not be reached',
        `  why: nothing listens at ${url} (GET ${url}/v2/catalog)`,
        ' next: Start the broker, or give the address of a running one.',
        '',
      ].join('\n'),
    )
    expect(unreachable.code).toBe(1)
    const unknown = await runNode(built.bin, ['catalogue'], { cwd })
    expect(unknown.err).toContain('Did you mean catalog?')
    expect(unknown.code).toBe(2)
  })

  it('hashes a piped password', async () => {
    const result = await runNode(built.bin, ['hash-password'], { cwd: await makeFolder(), input: 'sesame\n' })
    expect(result).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/^scrypt\$\S+\n$/) })
  })

  it('serve tells what keeps it from starting', async () => {
    const cwd = await makeFolder()
    const nothing = await runNode(built.bin, ['serve'], { cwd })
    expect(nothing.err).toContain('error: There is no broker to serve.\n  why: ')
    expect(nothing).toMatchObject({ code: 2, out: '' })
    await writeFile(join(cwd, 'purser.yaml'), 'server:\n  prot: 80\n')
    const misspelt = await runNode(built.bin, ['serve'], { cwd })
    expect(misspelt.err).toMatch(/^error: The configuration has a mistake:\n {2}.*purser\.yaml:2.*prot/)
    expect(misspelt.code).toBe(2)
  })

  it('says that it has to be built first', async () => {
    const cwd = await makeFolder()
    const result = await runNode(await copyUnbuilt(cwd), ['--help'], { cwd })
    expect(result).toMatchObject({ code: 1, out: '', err: expect.stringContaining('npm run build first') })
  })
})
