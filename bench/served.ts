import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const root = join(import.meta.dirname, '..')

/** A server in a process of its own, started as people start it. */
export interface Served {
  readonly url: string
  readonly port: number
  readonly pid: number | undefined
  /** From the command to the first answer that was good. */
  readonly readyMs: number
  megabytes(): Promise<number>
  /** The next line of its log that passes. */
  line(passes: (line: string) => boolean): Promise<string>
  stop(): Promise<void>
}

export interface ServeOptions {
  readonly folder: string
  /** Answers 2xx when it is ready. */
  readonly path: string
  readonly env?: Readonly<Record<string, string>>
}

export async function serve(args: readonly string[], { folder, path, env = {} }: ServeOptions): Promise<Served> {
  const started = performance.now()
  const child = spawn(process.execPath, [...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...cleanEnv(), ...env },
  })
  const exited = new Promise<void>(resolve => child.once('exit', () => resolve()))
  // It is read to its end: a server whose output nobody takes would end.
  const lines = createInterface({ input: child.stdout }).setMaxListeners(0)
  const line = (passes: (line: string) => boolean) =>
    new Promise<string>((resolve, reject) => {
      const onLine = (text: string) => {
        if (!passes(text)) return
        lines.off('line', onLine).off('close', onClose)
        resolve(text)
      }
      const onClose = () => reject(new Error(`the server ended: ${args.join(' ')}`))
      lines.on('line', onLine).once('close', onClose)
    })
  const stop = async () => {
    child.kill('SIGKILL')
    await exited
  }
  try {
    const url = address.exec(await line(text => address.test(text)))?.[0] ?? ''
    while (!(await isReady(url + path))) await new Promise(resolve => setTimeout(resolve, 2))
    return {
      url,
      port: Number(new URL(url).port),
      pid: child.pid,
      readyMs: performance.now() - started,
      line,
      stop,
      async megabytes() {
        const status = await readFile(`/proc/${child.pid}/status`, 'utf8')
        return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** `purser serve` with a configuration and a SQLite store in the folder, for the user of the other requests. */
export async function servePurser(folder: string, config: object): Promise<Served> {
  await writeFile(join(folder, 'purser.yaml'), JSON.stringify({ store: 'sqlite:ledger.db', ...config }))
  return serve([join(root, 'bin', 'purser.js'), 'serve', '--port', '0'], {
    folder,
    path: '/readyz',
    env: { PURSER_USERNAME: 'bench', PURSER_PASSWORD: 'bench' },
  })
}

const address = /http:\/\/127\.0\.0\.1:\d+/

function cleanEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PURSER_')))
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok
  } catch {
    return false
  }
}
