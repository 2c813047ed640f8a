import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createOsbClient } from '../../src/client/index.ts'
import { useBuiltPackage } from '../cli/built-package.ts'
import { findFreePort } from '../cli/canned-broker.ts'
import { blocksOf, root } from '../docs/pages.ts'
import { startSession } from '../docs/session.ts'
import { describePostgres } from '../store/postgres-subject.ts'
import { type Credentials, hold, login, rows, running, sample, small, type Table, things } from './postgres-platform.ts'

const built = useBuiltPackage()
const incomplete = { acceptsIncomplete: true }
const patience = { timeout: 60_000 }

describePostgres('samples/postgres-broker in a process of its own', server => {
  it('is not stopped by kill -9, in the middle of whatever statement', { timeout: 240_000 }, async () => {
    const admin = await login({ uri: server.url })
    const { client, start, kill } = await install(server.url)

    /** Kills it while the statement runs, which lands all the same, and starts it again. */
    async function killAt(statement: string, table: Table, request: () => Promise<{ readonly status: number }>) {
      const { release } = await hold(server.url, table)
      // While a deletion is still swept it is answered 422, and a platform comes again.
      await expect.poll(async () => (await request()).status, patience).toBe(202)
      await expect.poll(() => running(admin, statement), patience).toBeGreaterThan(0)
      await kill()
      await release()
      await expect.poll(() => running(admin, statement), patience).toBe(0)
      await start()
    }
    const instanceState = async () => (await client.lastOperation('db')).body.state
    const bindingState = async () => (await client.lastBindingOperation('db', 'app')).body.state

    await start()
    await killAt('CREATE DATABASE', 'pg_database', () => client.provision('db', small, incomplete))
    expect((await things(admin)).length).toBe(2)
    await expect.poll(instanceState, patience).toBe('succeeded')

    await killAt('CREATE ROLE', 'pg_authid', () => client.bind('db', 'app', small, incomplete))
    expect((await things(admin)).length).toBe(3)
    await expect.poll(bindingState, patience).toBe('succeeded')
    const { body } = await client.fetchBinding('db', 'app')
    const credentials = body.credentials as unknown as Credentials
    const app = await login(credentials)
    await rows(app, 'CREATE TABLE t (x int)')
    expect((await things(admin)).length).toBe(3)

    await killAt('ALTER ROLE', 'pg_authid', () => client.unbind('db', 'app', small, incomplete))
    await expect.poll(bindingState, patience).toBe('succeeded')
    await expect(login(credentials)).rejects.toThrow()

    await killAt('DROP DATABASE', 'pg_database', () => client.deprovision('db', small, incomplete))
    await expect.poll(instanceState, patience).toBe('succeeded')
    expect(await things(admin)).toEqual([])
  })

  it.skipIf(!hasPsql())('its README.md works, line by line', { timeout: 120_000 }, async () => {
    const admin = await login({ uri: server.url })
    const session = await startSession(built)
    onTestFinished(() => session.end())
    await copySample(session.home)
    await session.serve(`PGADMIN_URL=${server.url} purser serve broker.mjs --store memory:`)
    const blocks = blocksOf('samples/postgres-broker/README.md').filter(({ marker }) => marker === 'run')
    const lines = blocks.flatMap(({ text }) => text.trimEnd().split('\n'))
    expect(lines.length).toBeGreaterThan(8)
    for (const line of lines) {
      const { code, err } = await session.run(line)
      expect({ line, code, err: code === 0 ? '' : err }).toEqual({ line, code: 0, err: '' })
      if (line.endsWith('unbind my-db my-app'))
        expect((await session.run('psql "$URI" -c "SELECT 1"')).err).toContain('does not exist')
    }
    expect(await things(admin)).toEqual([])
  })
})

/** The sample as a user has it, with the command of the built package, on a file. */
async function install(url: string) {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'purser-sample-')))
  await copySample(folder)
  await symlink(built.folder, join(folder, 'node_modules', 'purser'))
  const engine = 'engine: { lease: 5s, callTimeout: 2s, pollInterval: 100ms, retry: { initial: 50ms, max: 500ms } }'
  await writeFile(join(folder, 'purser.yaml'), `broker: ./broker.mjs\nosb: { requireOrgAndSpace: false }\n${engine}\n`)
  const port = await findFreePort()
  const env = { PATH: process.env.PATH, PGADMIN_URL: url, PURSER_SERVER_PORT: String(port) }
  const client = createOsbClient({ url: `http://127.0.0.1:${port}` })
  let child: ChildProcess | undefined

  async function start(): Promise<void> {
    const begun = spawn(process.execPath, [built.bin, 'serve'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    child = begun
    let told = ''
    for (const stream of [begun.stdout, begun.stderr])
      stream.on('data', chunk => {
        told += chunk
      })
    await expect
      .poll(() => (begun.exitCode === null ? client.catalog().then(({ status }) => status) : told), patience)
      .toBe(200)
  }
  async function kill(): Promise<void> {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }
  onTestFinished(async () => {
    await kill()
    await rm(folder, { recursive: true, force: true })
  })
  return { client, start, kill }
}

async function copySample(folder: string): Promise<void> {
  for (const name of ['broker.mjs', 'server.mjs', 'package.json']) await cp(join(sample, name), join(folder, name))
  await mkdir(join(folder, 'node_modules'))
  await symlink(join(root, 'node_modules', 'pg'), join(folder, 'node_modules', 'pg'))
}

function hasPsql(): boolean {
  return (process.env.PATH ?? '').split(delimiter).some(folder => existsSync(join(folder, 'psql')))
}
