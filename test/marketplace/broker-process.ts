/** `purser serve` in a process of its own, with nothing of this environment but the path. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { type AdminClient, createAdminClient, createOsbClient, type OsbClient } from '../../src/client/index.ts'
import { createLife, type Life } from './life.ts'

export interface BrokerProcess {
  readonly url: string
  readonly client: OsbClient
  readonly admin: AdminClient
  readonly life: Life
  /** As an operator would end it. */
  stop(): Promise<void>
  kill(): Promise<void>
}

export interface ServeOptions {
  readonly bin: string
  /** Has a purser.yaml whose port is 0. */
  readonly folder: string
  /** Every line of the log goes here. */
  readonly log: string[]
}

export const user = { username: 'platform', password: 'br0ker-pass' }

/** What every purser.yaml of these tests has. */
export const served = `server: { port: 0, shutdownDelay: 0s, shutdownGrace: 5s }
auth: { basic: [{ username: ${user.username}, password: ${user.password}, roles: [platform, operator, viewer] }] }
store: sqlite:ledger.db
engine: { pollInterval: 50ms, lease: 5s, callTimeout: 2s }
chores: { sync: "-", observe: "-", purge: "-" }
log: { format: json }
`

export async function serve({ bin, folder, log }: ServeOptions): Promise<BrokerProcess> {
  const child = spawn(process.execPath, [bin, 'serve'], {
    cwd: folder,
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  createInterface(child.stderr).on('line', line => log.push(line))
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', line => {
      log.push(line)
      const [, found] = /"url":"([^"]+)".*"msg":"serving"/.exec(line) ?? []
      if (found !== undefined) resolve(found)
    })
    child.once('exit', code => reject(new Error(`the broker ended with ${code}: ${log.slice(-10).join('\n')}`)))
  })
  const client = createOsbClient({ url, ...user })
  return {
    url,
    client,
    admin: createAdminClient({ url, ...user }),
    life: createLife(client),
    stop: () => end(child, 'SIGTERM'),
    kill: () => end(child, 'SIGKILL'),
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill(signal)
  await gone
}
