import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { operator } from './users.ts'

export interface Replica {
  readonly url: string
  readonly process: ChildProcess
  kill(): Promise<void>
  /** Keeps it from doing anything, so that what the ledger says of it stays true. */
  freeze(): void
  thaw(): void
  stop(): Promise<void>
}

/** A folder that replicas share: their ledger, a registry with one bundle, and the switches of a test. */
export function makeFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'console-'))
  // Bundles run as another user.
  chmodSync(folder, 0o711)
  publish(folder, '1.0.0')
  return {
    folder,
    /** Ends all trouble. */
    mend: () => writeFileSync(join(folder, 'mended'), ''),
    unmend: () => rmSync(join(folder, 'mended'), { force: true }),
    publish: (version: string) => publish(folder, version),
    /** The registry is not where it was, until `answer`. */
    silence: () => renameSync(join(folder, 'bundles'), join(folder, 'away')),
    answer: () => renameSync(join(folder, 'away'), join(folder, 'bundles')),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

function publish(folder: string, version: string): void {
  const bundle = join(folder, 'bundles', 'greeter')
  mkdirSync(bundle, { recursive: true })
  const spec = {
    version: 1.0,
    name: 'greeter',
    description: 'Greets in the words that you choose',
    bundle_version: version,
    bindable: false,
    plans: [{ name: 'free', description: 'One greeting', free: true }],
  }
  writeFileSync(join(bundle, 'bundle.yml'), JSON.stringify(spec))
  writeFileSync(
    join(bundle, 'entrypoint.sh'),
    `#!/bin/sh\necho "$1 by ${version}: looking around"\nsleep 0.2\necho done\n`,
  )
  chmodSync(join(bundle, 'entrypoint.sh'), 0o755)
}

export async function startReplica(store: string, folder: string): Promise<Replica> {
  const script = join(import.meta.dirname, 'replica.ts')
  const child = spawn(process.execPath, ['--import', 'tsx', script, store, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })
  const url = await new Promise<string>((resolve, reject) => {
    lines.once('line', resolve)
    ended.then(([code]) => reject(new Error(`the replica ended with ${code}`)), reject)
  })
  const end = (signal: 'SIGKILL' | 'SIGTERM') => async () => {
    child.kill(signal)
    await ended
  }
  return {
    url,
    process: child,
    kill: end('SIGKILL'),
    stop: end('SIGTERM'),
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
  }
}

const authorization = `Basic ${btoa(`${operator.username}:${operator.password}`)}`

/** As a platform, or as an operator, without a browser. */
export async function send<Body>(url: string, method: string, path: string, body?: object): Promise<Body> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization, 'x-broker-api-version': '2.17', 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  })
  return (await response.json()) as Body
}

export function provision(url: string, id: string, parameters: object = { name: id }, service = 'database') {
  const plan = service === 'cache' ? 'cache-shared' : `${service}-small`
  return send<{ operation?: string }>(url, 'PUT', `/v2/service_instances/${id}?accepts_incomplete=true`, {
    service_id: service,
    plan_id: plan,
    ...(service === 'cache' ? {} : { parameters }),
  })
}

export async function stateOf(url: string, operation: string | undefined): Promise<string> {
  const { state, hold } = await send<{ state: string; hold?: object }>(url, 'GET', `/admin/operations/${operation}`)
  return hold === undefined ? state : 'held'
}
