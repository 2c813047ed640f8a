import { execFile, spawn } from 'node:child_process'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runNode, useBuiltPackage } from './built-package.ts'
import { findFreePort } from './canned-broker.ts'
import { makeFolder, runCli } from './test-io.ts'

const root = join(import.meta.dirname, '..', '..')
const built = useBuiltPackage()
const files = ['.gitignore', 'README.md', 'broker.mjs', 'package.json', 'purser.yaml']

describe('purser init', () => {
  it('writes a project and says what comes next', async () => {
    const cwd = await makeFolder()
    const { code, out, err } = await runCli(['init', 'My Broker'], { cwd })
    expect((await readdir(join(cwd, 'My Broker'))).sort()).toEqual(files)
    expect(out.trim().split('\n')).toHaveLength(files.length)
    expect(err).toContain("Next:\n  cd 'My Broker'\n  npm install\n  npm start\n")
    expect(code).toBe(0)
    const { name, type, scripts, dependencies } = JSON.parse(
      await readFile(join(cwd, 'My Broker', 'package.json'), 'utf8'),
    )
    expect({ name, type, scripts }).toEqual({ name: 'my-broker', type: 'module', scripts: { start: 'purser serve' } })
    expect(dependencies.purser).toMatch(/^file:/)
  })

  it('overwrites nothing, and lists what is in the way', async () => {
    const cwd = await makeFolder()
    await writeFile(join(cwd, 'broker.mjs'), 'mine')
    await writeFile(join(cwd, 'README.md'), 'mine')
    const { code, out, err } = await runCli(['init'], { cwd })
    expect(err).toContain('why: these files would be overwritten: broker.mjs, README.md\n')
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect((await readdir(cwd)).sort()).toEqual(['README.md', 'broker.mjs'])
    expect(await readFile(join(cwd, 'broker.mjs'), 'utf8')).toBe('mine')
  })
})

describe('purser init --typescript', { timeout: 240_000 }, () => {
  it('writes sources and a test, and says so', async () => {
    const cwd = await makeFolder()
    const { code, out, err } = await runCli(['init', '--typescript', 'mine'], { cwd })
    const written = out
      .trim()
      .split('\n')
      .map(file => relative(join(cwd, 'mine'), file))
    expect(written.sort()).toEqual([
      '.gitignore',
      'README.md',
      'package.json',
      'purser.yaml',
      'src/broker.ts',
      'src/notes.test.ts',
      'src/notes.ts',
      'tsconfig.json',
    ])
    expect(err).toContain('Next:\n  cd mine\n  npm install\n  npm test\n  npm start\n')
    expect(code).toBe(0)
    for (const file of written) expect(await readFile(join(cwd, 'mine', file), 'utf8')).not.toMatch(/\{\{\w+\}\}/)
    const { devDependencies } = JSON.parse(await readFile(join(cwd, 'mine', 'package.json'), 'utf8'))
    const ours = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')).devDependencies
    expect(devDependencies).toEqual({ '@types/node': ours['@types/node'], typescript: ours.typescript })
    expect(await runCli(['init', '--typescript', 'mine'], { cwd })).toMatchObject({ code: 2, out: '' })
  })

  it('compiles strictly, passes its test and starts, with the packed package', async () => {
    const cwd = await makeFolder()
    const packed = await run(
      'npm',
      ['pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', cwd],
      built.folder,
    )
    const installed = join(cwd, 'node_modules', 'purser')
    await mkdir(installed, { recursive: true })
    await run('tar', ['-xzf', packed.out.trim().split('\n').at(-1) ?? '', '-C', installed, '--strip-components=1'], cwd)
    await linkDependencies(cwd)
    expect(await runNode(join(installed, 'bin', 'purser.js'), ['init', '--typescript'], { cwd })).toMatchObject({
      code: 0,
    })
    const { dependencies } = JSON.parse(await readFile(join(cwd, 'package.json'), 'utf8'))
    expect(dependencies.purser).toMatch(/^\^\d/)

    const tested = await run('npm', ['test'], cwd)
    expect(tested.out).toMatch(/^# pass 2$/m)
    expect(tested).toMatchObject({ code: 0 })

    const { url } = await serve(cwd, join(installed, 'bin', 'purser.js'))
    const catalog = await runNode(built.bin, ['catalog', '--output', 'json'], { cwd, env: { PURSER_URL: url } })
    expect(JSON.parse(catalog.out)).toMatchObject({ services: [{ name: 'notes' }] })
  })
})

/** What `npm install` would get from a registry besides the package: its dependencies, the compiler and the types of Node.js. */
async function linkDependencies(folder: string): Promise<void> {
  const { dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const modules = join(folder, 'node_modules')
  for (const name of [...Object.keys(dependencies), '@types/node', 'undici-types', 'libsql', 'typescript']) {
    await mkdir(dirname(join(modules, name)), { recursive: true })
    await symlink(join(root, 'node_modules', name), join(modules, name))
  }
  await mkdir(join(modules, '.bin'))
  await symlink(join('..', 'typescript', 'bin', 'tsc'), join(modules, '.bin', 'tsc'))
}

function run(command: string, args: readonly string[], cwd: string) {
  return new Promise<{ code: number; out: string; err: string }>(resolve => {
    // A test of this project runs the tests of another one: they must not take each other for parts of one run.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const options = { cwd, env: { ...env, NODE_OPTIONS: '--test-reporter=tap' } }
    execFile(command, [...args], options, (error, out, err) => resolve({ code: error === null ? 0 : 1, out, err }))
  })
}

describe('the project', { timeout: 120_000 }, () => {
  it('runs, and offers what its README says', async () => {
    const cwd = await makeFolder()
    expect(await runNode(built.bin, ['init'], { cwd })).toMatchObject({ code: 0 })
    await mkdir(join(cwd, 'node_modules'))
    await symlink(built.folder, join(cwd, 'node_modules', 'purser'))
    const { url } = await serve(cwd)
    const purser = (...args: string[]) =>
      runNode(built.bin, [...args, '--output', 'json'], { cwd, env: { PURSER_URL: url } })

    expect(JSON.parse((await purser('catalog')).out).services).toHaveLength(1)
    const provisioned = await purser('provision', 'notes', 'small', '--id', 'my-notes')
    expect(JSON.parse(provisioned.out)).toMatchObject({ instance_id: 'my-notes', state: 'succeeded' })
    expect(provisioned.out).not.toContain('dashboard_url')
    const bound = await purser('bind', 'my-notes', '--id', 'my-app')
    const { credentials } = JSON.parse(bound.out)
    const headers = { authorization: `Bearer ${credentials.token}` }
    const put = (body: string) => fetch(`${credentials.url}/shopping`, { method: 'PUT', headers, body })
    const get = () => fetch(`${credentials.url}/shopping`, { headers })
    expect((await put('buy milk')).status).toBe(200)
    expect(await (await get()).text()).toBe('buy milk')

    expect(await purser('update', 'my-notes', '--param', 'maxLength=5')).toMatchObject({ code: 0 })
    expect((await put('buy milk')).status).toBe(413)
    expect(await purser('update', 'my-notes', '--param', 'maxLength=0')).toMatchObject({ code: 1 })
    expect(JSON.parse((await purser('credentials', 'my-notes', 'my-app')).out).credentials).toEqual(credentials)

    expect(await purser('unbind', 'my-notes', 'my-app')).toMatchObject({ code: 0 })
    expect((await get()).status).toBe(401)
    expect(await readdir(join(cwd, 'data'))).toHaveLength(1)
    expect(await purser('deprovision', 'my-notes')).toMatchObject({ code: 0 })
    expect(await readdir(join(cwd, 'data'))).toEqual([])
  })
})

/** `npm start` of the project in `cwd`, on a free port; it goes with the test. */
async function serve(cwd: string, bin = built.bin): Promise<{ url: string }> {
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}`
  const child = spawn(process.execPath, [bin, 'serve', '--port', String(port)], {
    cwd,
    env: { PATH: process.env.PATH, NOTES_URL: url },
  })
  let log = ''
  child.stdout.on('data', chunk => {
    log += chunk
  })
  child.stderr.on('data', chunk => {
    log += chunk
  })
  const ended = new Promise<void>(resolve => child.once('close', () => resolve()))
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await ended
  })
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`the broker ended:\n${log}`)
  }
  return { url }
}

function accepts(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    const answer = (accepted: boolean) => () => {
      socket.destroy()
      setTimeout(resolve, accepted ? 0 : 20, accepted)
    }
    socket.once('connect', answer(true))
    socket.once('error', answer(false))
  })
}
