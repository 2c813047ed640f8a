import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { createContainerRuntime } from '../../src/sandbox/container/container-runtime.ts'
import { sandboxUser } from '../external/container-engine.ts'
import { startPodman, whyNoPodman } from '../external/podman.ts'
import { startRedis, whyNoRedis } from '../external/redis.ts'
import { whyNot } from '../external/wanted.ts'
import { createRunner } from './runner.ts'
import { bundleFolder } from './samples.ts'

const run = promisify(execFile)
const image = 'localhost/redis-bundle:1'
const source = readFileSync(join(bundleFolder('redis'), 'bundle.yml'), 'utf8')
const address = addressOfThisMachine()
const reason =
  (address === undefined ? 'this machine has no address but loopback' : undefined) ??
  whyNoPodman() ??
  (await whyNoRedis()) ??
  (await whyNot('image', () => run('which', ['buildah', 'busybox', 'ldd']), 'BUNDLES'))

describe.skipIf(reason !== undefined)(`the image of bundles/redis${reason ? ` (skipped: ${reason})` : ''}`, () => {
  it('carries its spec, and its actions run in containers', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'purser-redis-image-'))
    chmodSync(folder, 0o755)
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const archive = await build(folder)

    const podman = await startPodman()
    onTestFinished(() => podman.stop())
    await call(podman.socket, 'POST', '/v1.40/images/load', readFileSync(archive))
    const { Config } = JSON.parse(await call(podman.socket, 'GET', `/v1.40/images/${encodeURIComponent(image)}/json`))
    expect(Buffer.from(Config.Labels['com.redhat.apb.spec'], 'base64').toString()).toBe(source)
    expect(Config.Labels['com.redhat.bundle.runtime']).toBe('2')

    const server = await startRedis(address)
    onTestFinished(() => server.stop())
    const runtime = createContainerRuntime({
      socket: podman.socket,
      folder: join(folder, 'sandboxes'),
      user: sandboxUser,
      clock: systemClock,
    })
    const secrets = { redis_host: server.host, redis_port: server.port, redis_password: server.password }
    const program = { kind: 'image', image, pull: 'never' } as const
    const { run, succeed, state } = await createRunner(runtime, { source, program, secrets })
    const ask = { instance: 'mine', plan: 'shared', binding: 'app' }
    await succeed('provision', ask)
    const { user, password, prefix } = await succeed('bind', ask)
    expect(prefix).toBe(`${state('mine').prefix}:`)
    const login = { user: String(user), password: String(password) }
    expect(await server.cli(['set', `${prefix}a`, '1'], login)).toBe('OK')
    await expect(server.cli(['set', 'elsewhere', '1'], login)).rejects.toThrow('NOPERM')
    expect(await run('update', ask)).toMatchObject({ code: 8 })
    await succeed('unbind', ask)
    await succeed('deprovision', ask)
    expect(await server.cli(['acl', 'users'])).toBe('default')
    expect(await server.cli(['dbsize'])).toBe('0')
    expect(await runtime.list()).toEqual([])
  })
})

/** Builds the image with a storage of its own, into a file. */
async function build(folder: string): Promise<string> {
  const storage = join(folder, 'storage.conf')
  const places = { driver: 'vfs', graphroot: join(folder, 'root'), runroot: join(folder, 'run') }
  const lines = Object.entries(places).map(([key, value]) => `${key} = "${value}"`)
  writeFileSync(storage, ['[storage]', ...lines, ''].join('\n'))
  const env = { ...process.env, CONTAINERS_STORAGE_CONF: storage }
  await run(join(bundleFolder('redis'), 'build-image.sh'), [image], { env })
  const archive = join(folder, 'image.tar')
  await run('buildah', ['push', image, `docker-archive:${archive}:${image}`], { env })
  return archive
}

async function call(socketPath: string, method: string, path: string, body?: Buffer): Promise<string> {
  const answer = await new Promise<{ status: number; body: string }>((resolve, reject) => {
    const sent = request({ socketPath, method, path, headers: { 'content-type': 'application/x-tar' } }, response =>
      text(response).then(body => resolve({ status: response.statusCode ?? 0, body }), reject),
    )
    sent.once('error', reject)
    sent.end(body)
  })
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.body}`)
  return answer.body
}

/** One that containers reach too: loopback is their own. */
function addressOfThisMachine(): string | undefined {
  const addresses = Object.values(networkInterfaces()).flatMap(list => list ?? [])
  return addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address
}
