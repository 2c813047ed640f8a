import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { onTestFinished } from 'vitest'
import type { CliIo } from '../../src/cli/io.ts'
import { main } from '../../src/cli/main.ts'
import { createVirtualClock } from './virtual-clock.ts'

export interface TestIo extends CliIo {
  readonly stdin: PassThrough & { isTTY?: boolean }
  readonly out: () => string
  readonly err: () => string
  /** Presses Ctrl-C. */
  interrupt(): void
}

export interface TestIoOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly tty?: boolean
  readonly columns?: number
  /** A terminal that is also read from. */
  readonly rows?: number
  readonly onErr?: (text: string) => void
}

export function createTestIo(options: TestIoOptions = {}): TestIo {
  let out = ''
  let err = ''
  const interrupts = new Set<() => void>()
  const stdin: PassThrough & { isTTY?: boolean } = new PassThrough()
  if (options.rows !== undefined) stdin.isTTY = options.tty
  return {
    stdin,
    stdout: {
      write(text) {
        out += text
      },
      isTTY: options.tty,
      rows: options.rows,
    },
    stderr: {
      write(text) {
        err += text
        options.onErr?.(text)
      },
      isTTY: options.tty,
      columns: options.columns,
    },
    env: options.env ?? {},
    cwd: options.cwd ?? '/nowhere',
    clock: createVirtualClock(),
    onInterrupt(callback) {
      interrupts.add(callback)
      return () => interrupts.delete(callback)
    },
    interrupt() {
      for (const callback of interrupts) callback()
    },
    out: () => out,
    err: () => err,
  }
}

export interface RunResult {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** One command in process. */
export async function runCli(args: readonly string[], options: TestIoOptions = {}): Promise<RunResult> {
  const io = createTestIo(options)
  const code = await main(args, io)
  return { code, out: io.out(), err: io.err() }
}

/** A folder that goes with the test. */
export async function makeFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'purser-cli-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}
