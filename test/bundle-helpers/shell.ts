/** The helpers' commands in a folder like the one that an action has. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

const bin = join(import.meta.dirname, '..', '..', 'helpers', 'bin')

export interface Tools {
  readonly name: string
  readonly sh: readonly string[]
  /** In front of the others on the path. */
  readonly tools: Readonly<Record<string, string>>
}

/** What scripts are run with on this machine, and with busybox alone where there is one. */
export function findTools(): readonly Tools[] {
  const path = (name: string) => {
    try {
      return execFileSync('which', [name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
    } catch {
      return undefined
    }
  }
  const busybox = path('busybox')
  const applets = ['awk', 'sh', 'cat', 'grep', 'sed', 'sort', 'tr', 'mv', 'find', 'printf']
  const [bash, gawk] = [path('bash'), path('gawk')]
  return [
    { name: 'sh', sh: ['sh'], tools: {} },
    ...(bash ? [{ name: 'bash', sh: [bash, '--posix'], tools: {} }] : []),
    ...(gawk ? [{ name: 'gawk', sh: ['sh'], tools: { awk: gawk } }] : []),
    ...(busybox
      ? [{ name: 'busybox', sh: [busybox, 'sh'], tools: Object.fromEntries(applets.map(name => [name, busybox])) }]
      : []),
  ]
}

export interface Done {
  readonly code: number
  readonly out: string
  readonly err: string
}

export function createAction(
  tools: Tools,
  { binding = false, input = {} }: { binding?: boolean; input?: object } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'purser-helpers-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const name of ['output', 'state', 'binding', 'tools']) mkdirSync(join(folder, name))
  for (const [name, target] of Object.entries(tools.tools)) symlinkSync(target, join(folder, 'tools', name))
  writeFileSync(join(folder, 'input.json'), JSON.stringify(input))
  const output = join(folder, 'output')
  const env = {
    PATH: `${join(folder, 'tools')}:${process.env.PATH}`,
    BUNDLE_INPUT: join(folder, 'input.json'),
    BUNDLE_OUTPUT: output,
    BUNDLE_STATE: join(folder, 'state'),
    ...(binding ? { BUNDLE_BINDING_STATE: join(folder, 'binding') } : {}),
  }
  return {
    output,
    env,
    run(command: string, args: readonly string[], stdin = ''): Done {
      const [shell = 'sh', ...options] = tools.sh
      const done = spawnSync(shell, [...options, join(bin, command), ...args], { env, input: stdin })
      return { code: done.status ?? -1, out: done.stdout.toString(), err: done.stderr.toString() }
    },
    keep: (where: 'state' | 'binding', key: string, value: string) => writeFileSync(join(folder, where, key), value),
    left(name: string): unknown {
      const file = join(output, name)
      return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
    },
  }
}
