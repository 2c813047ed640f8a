/** Replicas as processes of their own: the built command, on one ledger. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { createOsbClient, type OsbClient } from '../../src/client/index.ts'
import type { BuiltPackage } from '../cli/built-package.ts'

export interface Process {
  readonly url: string
  readonly client: OsbClient
  readonly log: readonly string[]
  readonly pid: number | undefined
  signal(signal: NodeJS.Signals): void
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | string | null>
  hasEnded(): boolean
}

/**
 * Steps take as long as the parameters say, and go on whatever the signal says, as a remote system does. With `waitFor`, those
 * of the first attempt go on when there is a file of that name.
 */
const brokerModule = `
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineBroker, defineService } from 'purser'
const step = async ({ log, operation, parameters: { stepMs = 0, waitFor } }, name) => {
  log.info(name + ' begun')
  while (waitFor !== undefined && operation.attempt === 1 && !existsSync(waitFor)) await sleep(20)
  await sleep(stepMs)
}
export default defineBroker({ services: [defineService({
  id: 'service', name: 'service', description: 'Takes its time', bindable: false,
  plans: [{ id: 'plan', name: 'plan', description: 'The plan' }],
  async provision(ctx) {
    await ctx.step('one', () => step(ctx, 'one'))
    await ctx.step('two', () => step(ctx, 'two'))
  },
  async deprovision() {},
})] })
`

/** A folder with a broker and its settings, from which any number of replicas can be started. */
export async function makeDeployment(built: BuiltPackage, settings: object) {
  const folder = await mkdtemp(join(tmpdir(), 'purser-replicas-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await mkdir(join(folder, 'node_modules'))
  await symlink(built.folder, join(folder, 'node_modules', 'purser'))
  await writeFile(join(folder, 'broker.mjs'), brokerModule)
  // JSON is YAML.
  await writeFile(
    join(folder, 'purser.yaml'),
    JSON.stringify({ broker: 'broker.mjs', encryption: { required: false }, ...settings }),
    { mode: 0o600 },
  )
  const command = [process.execPath, built.bin, 'serve', '--port', '0']
  return {
    folder,
    command,
    /** Also by another program that runs the command, such as nohup. */
    start: (run: readonly string[] = command) => start(run, folder),
  }
}

async function start([program = '', ...args]: readonly string[], cwd: string): Promise<Process> {
  const child = spawn(program, args, { cwd, env: { PATH: process.env.PATH }, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string | null)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const log: string[] = []
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', line => {
      log.push(line)
      const said = JSON.parse(line) as { readonly msg?: string; readonly url?: string }
      if (said.msg === 'serving' && said.url !== undefined) resolve(said.url)
    })
    void ended.then(code => reject(new Error(`the broker ended with ${code}: ${log.join('\n')}`)))
  })
  return {
    url,
    client: createOsbClient({ url, timeout: 60_000 }),
    log,
    pid: child.pid,
    signal: signal => void child.kill(signal),
    ended,
    hasEnded: () => hasEnded(child),
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}
