/** A real Redis for tests: a server in a folder of its own, on a free port, with a password and a file of users. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { freePort } from './free-port.ts'
import { whyNot } from './wanted.ts'

export interface RedisServer {
  readonly host: string
  readonly port: number
  /** The administrator's. */
  readonly password: string
  /** What redis-cli prints, as the administrator or another user; throws with what the server says where it refuses. */
  cli(args: readonly string[], user?: RedisUser): Promise<string>
  /** Ends it, and starts it on the same port, with the users that were saved. */
  restart(): Promise<void>
  stop(): Promise<void>
}

export interface RedisUser {
  readonly user: string
  readonly password: string
}

/** Why there is no Redis for these tests; undefined where there is one. BUNDLES names what must be there, as STORES does. */
export function whyNoRedis(): Promise<string | undefined> {
  return whyNot(
    'redis',
    async () => {
      await run('which', ['redis-server', 'redis-cli', 'setpriv']).catch(() => {
        throw new Error('there is no redis-server: install redis-server and redis-tools')
      })
    },
    'BUNDLES',
  )
}

/** `host` is the address that it listens on. */
export async function startRedis(host = '127.0.0.1'): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'purser-redis-'))
  const port = await freePort()
  const password = 'administrators-password'
  const users = join(folder, 'users.acl')
  writeFileSync(users, `user default on >${password} ~* &* +@all\n`)
  const settings = ['--bind', host, '--port', `${port}`, '--dir', folder, '--aclfile', users, '--save', '']
  let server = await start(settings)

  async function end(): Promise<void> {
    const exit = once(server, 'exit')
    server.kill('SIGKILL')
    await exit
  }

  return {
    host,
    port,
    password,
    async cli(args, user = { user: 'default', password }) {
      const options = ['-e', '-h', host, '-p', `${port}`, '--user', user.user]
      const env = { ...process.env, REDISCLI_AUTH: user.password }
      const done = await run('redis-cli', [...options, ...args], { env }).catch(error => {
        throw new Error(`${error.stdout}${error.stderr}`.trim())
      })
      // A login that fails is only warned about, and the command is tried all the same.
      if (done.stderr.includes('AUTH failed')) throw new Error(done.stderr.trim())
      return done.stdout.trim()
    },
    async restart() {
      await end()
      server = await start(settings)
    },
    async stop() {
      await end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const run = promisify(execFile)

async function start(settings: readonly string[]): Promise<ChildProcess> {
  // The server goes with the test process, however that ends.
  const args = ['--pdeathsig', 'KILL', '--', 'redis-server', ...settings]
  const server = spawn('setpriv', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const seen: string[] = []
  await new Promise<void>((resolve, reject) => {
    createInterface(server.stdout).on('line', line => {
      if (seen.length < 50) seen.push(line)
      if (line.includes('Ready to accept connections')) resolve()
    })
    server.once('error', reject)
    server.once('exit', () => reject(new Error(`Redis did not start: ${seen.join('\n')}`)))
  })
  return server
}
