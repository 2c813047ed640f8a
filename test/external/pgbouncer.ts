/** A real PgBouncer for tests, before a server of theirs. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from './free-port.ts'
import { asUser, findUser, whyNoPostgres } from './postgres.ts'
import { whyNot } from './wanted.ts'

export interface PgBouncer {
  readonly url: string
  stop(): Promise<void>
}

/** It belongs to PostgreSQL: where STORES names that, it must be there. */
export async function whyNoPgBouncer(): Promise<string | undefined> {
  const reason = await whyNoPostgres()
  if (reason !== undefined) return reason
  return whyNot('postgres', async () => {
    try {
      execFileSync('which', ['pgbouncer'], { stdio: 'ignore' })
    } catch {
      throw new Error('there is no pgbouncer: install the package pgbouncer')
    }
  })
}

/** With few connections to the server, so that clients share them. */
export async function startPgBouncer(
  serverUrl: string,
  settings: Readonly<Record<string, string>>,
): Promise<PgBouncer> {
  const folder = mkdtempSync(join(tmpdir(), 'purser-pgbouncer-'))
  const file = join(folder, 'pgbouncer.ini')
  const server = new URL(serverUrl)
  const port = await freePort()
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'any',
    default_pool_size: 3,
    max_client_conn: 200,
    ...settings,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`)
  const database = `* = host=127.0.0.1 port=${server.port} user=${server.username}`
  writeFileSync(file, ['[databases]', database, '[pgbouncer]', ...lines, ''].join('\n'))
  const user = findUser()
  if (user !== undefined) for (const path of [folder, file]) chownSync(path, user.uid, user.gid)
  const [command = 'pgbouncer', ...args] = [...(user === undefined ? [] : asUser(user)), 'pgbouncer', file]
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const seen: string[] = []
  await new Promise<void>((resolve, reject) => {
    createInterface(child.stderr).on('line', line => {
      if (seen.length < 50) seen.push(line)
      if (line.includes('process up')) resolve()
    })
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`PgBouncer did not start: ${seen.join('\n')}`)))
  })
  const url = new URL(serverUrl)
  url.port = String(port)
  return {
    url: url.href,
    async stop() {
      const exit = once(child, 'exit')
      child.kill('SIGKILL')
      await exit
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
