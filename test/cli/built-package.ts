import { execFile, spawn } from 'node:child_process'
import { access, cp, mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

export interface BuiltPackage {
  /** The folder of the package, as npm would install it. */
  readonly folder: string
  readonly bin: string
}

/** Builds the package once for a test file, apart from `dist`, so that what is tested is never stale. */
export function useBuiltPackage(): BuiltPackage {
  let folder = ''
  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'purser-built-')))
    for (const part of ['bin', 'helpers', 'templates'])
      await cp(join(root, part), join(folder, part), { recursive: true })
    await cp(join(root, 'package.json'), join(folder, 'package.json'))
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    const compiler = join(root, 'node_modules', '.bin', 'tsc')
    const args = ['-p', join(root, 'tsconfig.build.json'), '--outDir', join(folder, 'dist')]
    // Its type errors are another check's business; what it wrote is run here.
    await new Promise<void>(resolve => execFile(compiler, args, () => resolve()))
    await access(join(folder, 'dist', 'cli', 'main.js'))
  }, 120_000)
  afterAll(() => rm(folder, { recursive: true, force: true }))
  return {
    get folder() {
      return folder
    },
    get bin() {
      return join(folder, 'bin', 'purser.js')
    },
  }
}

export interface ProcessOptions {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  /** Sees stderr as it grows; may end the process. */
  readonly onErr?: (text: string, kill: (signal: NodeJS.Signals) => void) => void
}

/** Runs a script in a process of its own, with nothing of this environment but the path. */
export function runNode(script: string, args: readonly string[], options: ProcessOptions) {
  return new Promise<{ code: number | null; out: string; err: string }>((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...args], {
      cwd: options.cwd,
      env: { PATH: process.env.PATH, ...options.env },
    })
    let out = ''
    let err = ''
    child.stdout.on('data', chunk => {
      out += chunk
    })
    child.stderr.on('data', chunk => {
      err += chunk
      options.onErr?.(err, signal => child.kill(signal))
    })
    child.on('error', reject)
    child.on('close', code => resolve({ code, out, err }))
    child.stdin.end(options.input ?? '')
  })
}

/** A copy of the package without its build. */
export async function copyUnbuilt(target: string): Promise<string> {
  await mkdir(target, { recursive: true })
  await cp(join(root, 'bin'), join(target, 'bin'), { recursive: true })
  return join(target, 'bin', 'purser.js')
}
