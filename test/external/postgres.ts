/** A real PostgreSQL for tests: a new cluster in a temporary folder, on a free port, as durable as in production. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from './free-port.ts'
import { findBinaries } from './postgres-binaries.ts'
import { removeLater } from './remove-later.ts'
import { whyNot } from './wanted.ts'

/** `fast` says good-bye to its connections; `immediate` is as a crash: what was not on the disk is lost; `kill` is one. */
type Down = keyof typeof signals

const signals = { fast: 'SIGINT', immediate: 'SIGQUIT', kill: 'SIGKILL' } as const

export interface PostgresServer {
  readonly url: string
  /** Its folder. */
  readonly data: string
  pid(): number
  down(mode: Down): Promise<void>
  /** Starts again, on the same port and data, what is down. */
  up(): Promise<void>
  restart(mode: Down): Promise<void>
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

interface PostgresOptions {
  /** Of its configuration. */
  readonly settings?: Readonly<Record<string, string>>
  /** It begins as a copy of this one, which is down, and as its standby. */
  readonly standbyOf?: PostgresServer
}

/** Throws where this machine has no PostgreSQL that can be started. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const { standbyOf } = options
  const programs = await findBinaries()
  const user = findUser()
  const folder = mkdtempSync(join(tmpdir(), 'purser-postgres-'))
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const port = await freePort()
  const [command, ...before] = user === undefined ? [] : asUser(user)
  const run = (binary: string, args: string[]): [string, string[]] =>
    command === undefined ? [binary, args] : [command, [...before, binary, ...args]]

  const initOptions = ['-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--locale=C']
  const [program, args] =
    standbyOf === undefined
      ? run(programs.initdb, ['-D', data, ...initOptions])
      : run('cp', ['-a', standbyOf.data, data])
  execFileSync(program, args, { cwd: folder, stdio: 'pipe' })
  if (standbyOf !== undefined) {
    writeFileSync(join(data, 'standby.signal'), '')
    appendFileSync(
      join(data, 'postgresql.auto.conf'),
      `primary_conninfo = '${standbyOf.url}?application_name=standby'\n`,
    )
  }

  let current: ChildProcess | undefined
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    fsync: 'on',
    max_connections: 200,
    ...options.settings,
  }
  const serverArgs = ['-D', data, ...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`])]

  async function up(): Promise<void> {
    const [postgres, args] = run(programs.postgres, serverArgs)
    const child = spawn(postgres, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
    const seen: string[] = []
    await new Promise<void>((resolve, reject) => {
      createInterface(child.stderr).on('line', line => {
        if (seen.length < 50) seen.push(line)
        if (/ready to accept (read-only )?connections/.test(line)) resolve()
      })
      child.once('error', reject)
      child.once('exit', () => reject(new Error(`PostgreSQL did not start: ${seen.join('\n')}`)))
    })
    current = child
  }

  async function down(mode: Down): Promise<void> {
    const child = current
    current = undefined
    if (child === undefined || child.exitCode !== null) return
    const exit = once(child, 'exit')
    child.kill(signals[mode])
    await exit
  }

  const removeNow = () => {
    current?.kill('SIGKILL')
    removeLater(folder)
  }

  await up()
  process.once('exit', removeNow)
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    data,
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
      process.off('exit', removeNow)
      await down('immediate')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

interface User {
  readonly uid: number
  readonly gid: number
}

/** PostgreSQL and PgBouncer refuse to run as root. */
export function findUser(): User | undefined {
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
export function asUser({ uid, gid }: User): string[] {
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--pdeathsig', 'QUIT']
}
