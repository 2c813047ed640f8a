/** A real PostgreSQL for tests: a new cluster in a temporary folder, on a free port, as durable as in production. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from './free-port.ts'
import { type Binaries, findBinaries } from './postgres-binaries.ts'
import { whyNot } from './wanted.ts'

export interface PostgresServer {
  readonly url: string
  pid(): number
  /** `fast` says good-bye to its connections; `immediate` is as a crash: what was not on the disk is lost. */
  down(mode: 'fast' | 'immediate'): Promise<void>
  /** Starts again, on the same port and data, what is down. */
  up(): Promise<void>
  restart(mode: 'fast' | 'immediate'): Promise<void>
  /** For good, data included. */
  stop(): Promise<void>
}

/** Why there is no PostgreSQL for these tests; undefined where there is one. */
export function whyNoPostgres(): Promise<string | undefined> {
  return whyNot('postgres', async () => {
    findUser()
    await findBinaries()
  })
}

/** Throws where this machine has no PostgreSQL that can be started. */
export async function startPostgres(binaries?: Binaries): Promise<PostgresServer> {
  const programs = binaries ?? (await findBinaries())
  const user = findUser()
  const folder = mkdtempSync(join(tmpdir(), 'purser-postgres-'))
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const port = await freePort()
  const [command, ...before] = user === undefined ? [] : asUser(user)
  const run = (binary: string, args: string[]): [string, string[]] =>
    command === undefined ? [binary, args] : [command, [...before, binary, ...args]]

  const [initdb, initArgs] = run(programs.initdb, [
    '-D',
    data,
    '-A',
    'trust',
    '-U',
    'postgres',
    '-E',
    'UTF8',
    '--locale=C',
  ])
  execFileSync(initdb, initArgs, { cwd: folder, stdio: 'pipe' })

  let current: ChildProcess | undefined
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    fsync: 'on',
    max_connections: 200,
  }
  const serverArgs = ['-D', data, ...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`])]

  async function up(): Promise<void> {
    const [postgres, args] = run(programs.postgres, serverArgs)
    const child = spawn(postgres, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
    const seen: string[] = []
    await new Promise<void>((resolve, reject) => {
      createInterface(child.stderr).on('line', line => {
        if (seen.length < 50) seen.push(line)
        if (line.includes('ready to accept connections')) resolve()
      })
      child.once('error', reject)
      child.once('exit', () => reject(new Error(`PostgreSQL did not start: ${seen.join('\n')}`)))
    })
    current = child
  }

  async function down(mode: 'fast' | 'immediate'): Promise<void> {
    const child = current
    current = undefined
    if (child === undefined || child.exitCode !== null) return
    const exit = once(child, 'exit')
    child.kill(mode === 'fast' ? 'SIGINT' : 'SIGQUIT')
    await exit
  }

  await up()
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    pid() {
      if (current?.pid === undefined) throw new Error('the server is down')
      return current.pid
    },
    down,
    up,
    async restart(mode) {
      await down(mode)
      await up()
    },
    async stop() {
      await down('immediate')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

interface User {
  readonly uid: number
  readonly gid: number
}

/** PostgreSQL refuses to run as root. */
function findUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined
  for (const name of ['postgres', 'nobody']) {
    try {
      const number = (flag: string) => Number(execFileSync('id', [flag, name], { stdio: 'pipe' }))
      return { uid: number('-u'), gid: number('-g') }
    } catch {
      // The next one.
    }
  }
  throw new Error('PostgreSQL does not run as root, and there is neither a user postgres nor nobody')
}

/** The server goes with the test process, however that ends. */
function asUser({ uid, gid }: User): string[] {
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--pdeathsig', 'QUIT']
}
