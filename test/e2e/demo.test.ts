import { type ChildProcess, spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { runNode, useBuiltPackage } from '../cli/built-package.ts'
import { makeFolder } from '../cli/test-io.ts'

const built = useBuiltPackage()
const running = new Set<ChildProcess>()

afterEach(() => {
  for (const child of running) child.kill('SIGKILL')
  running.clear()
})

/** What `npm start` starts, in a folder of its own, with a lease that a test can wait for. */
async function serveDemo(
  cwd: string,
  port = '0',
): Promise<{ url: string; port: string; child: ChildProcess; output: () => string }> {
  await writeFile(
    join(cwd, 'purser.yaml'),
    'store: sqlite:.purser/demo.db\nengine: { lease: 2s, callTimeout: 800ms }\n',
  )
  const child = spawn(process.execPath, [built.bin, 'serve', '--demo', '--port', port], {
    cwd,
    env: { PATH: process.env.PATH },
  })
  running.add(child)
  let output = ''
  child.stderr.on('data', chunk => {
    output += chunk
  })
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', chunk => {
      output += chunk
      const found = /"url":"(http:[^"]+)"/.exec(output)?.[1]
      if (found !== undefined) resolve(found)
    })
    child.on('exit', code => reject(new Error(`the broker ended with ${code}: ${output}`)))
  })
  return { url, port: new URL(url).port, child, output: () => output }
}

async function platform(cwd: string, url: string) {
  const password = (await readFile(join(cwd, '.purser', 'demo-password'), 'utf8')).trim()
  const env = { PURSER_URL: url, PURSER_USERNAME: 'demo', PURSER_PASSWORD: password }
  return async (...args: string[]) => {
    const { code, out, err } = await runNode(built.bin, [...args, '--output', 'json'], { cwd, env })
    return { code, err, body: out === '' ? {} : JSON.parse(out) }
  }
}

interface Credentials {
  readonly uri: string
  readonly username: string
  readonly password: string
}

function use({ uri, username, password }: Credentials, key: string, init: RequestInit = {}) {
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  return fetch(`${uri}/${key}`, { ...init, headers: { authorization } })
}

describe('the demo broker, as a user meets it', { timeout: 120_000 }, () => {
  it('gives out credentials that work, rotates them, and takes them back', async () => {
    const cwd = await makeFolder()
    const { url, output } = await serveDemo(cwd)
    const purser = await platform(cwd, url)
    expect((await purser('catalog')).body.services.map((service: { name: string }) => service.name)).toEqual([
      'kv',
      'replicated-kv',
    ])
    expect(await purser('provision', 'kv', 'small', '--id', 'my/store')).toMatchObject({
      code: 0,
      body: { state: 'succeeded' },
    })
    const { body: bound } = await purser('bind', 'my/store', '--id', 'first')
    expect((await use(bound.credentials, 'greeting', { method: 'PUT', body: 'hello' })).status).toBe(200)
    expect(await (await use(bound.credentials, 'greeting')).text()).toBe('hello')

    const { body: successor } = await purser('bind', 'my/store', '--id', 'second', '--rotate', 'first')
    expect(await (await use(successor.credentials, 'greeting')).text()).toBe('hello')
    expect((await use(bound.credentials, 'greeting')).status).toBe(200)
    expect(await purser('unbind', 'my/store', 'first')).toMatchObject({ code: 0 })
    expect((await use(bound.credentials, 'greeting')).status).toBe(401)
    expect((await use(successor.credentials, 'greeting')).status).toBe(200)

    expect(await purser('update', 'my/store', '--plan', 'large')).toMatchObject({
      code: 0,
      body: { state: 'succeeded' },
    })
    const refused = await purser('deprovision', 'my/store')
    expect(refused.code).toBe(1)
    expect(refused.err).toContain('1 binding')
    expect(await purser('unbind', 'my/store', 'second')).toMatchObject({ code: 0 })
    expect(await purser('deprovision', 'my/store')).toMatchObject({ code: 0 })
    expect((await use(successor.credentials, 'greeting')).status).toBe(401)
    for (const secret of [bound.credentials.password, successor.credentials.password])
      expect(output()).not.toContain(secret)
  })

  it('ends a provision that kill -9 cut in the middle', async () => {
    const cwd = await makeFolder()
    const first = await serveDemo(cwd)
    const purser = await platform(cwd, first.url)
    const started = await purser('provision', 'replicated-kv', 'standard', '--id', 'slow', '--no-wait')
    expect(started).toMatchObject({ code: 0, body: { state: 'in progress' } })
    first.child.kill('SIGKILL')
    const again = await serveDemo(cwd, first.port)
    expect(again.url).toBe(first.url)
    let status = await purser('status', 'slow')
    while (status.body.state === 'in progress') {
      await new Promise(resolve => setTimeout(resolve, 500))
      status = await purser('status', 'slow')
    }
    expect(status.body).toMatchObject({ state: 'succeeded', operation: started.body.operation })
    const { body } = await purser('bind', 'slow', '--id', 'key')
    expect((await use(body.credentials, 'a', { method: 'PUT', body: 'b' })).status).toBe(200)
  })

  it('refuses a second process on the same store and says which one holds it; ends with 0 when asked to', async () => {
    const cwd = await makeFolder()
    const { child } = await serveDemo(cwd)
    const second = await runNode(built.bin, ['serve', '--demo', '--port', '0'], { cwd })
    expect(second.code).toBe(1)
    expect(second.err).toContain(String(child.pid))
    const ended = new Promise(resolve => child.once('exit', resolve))
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  })
})
