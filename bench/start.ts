import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { atMost, type Result, type Round, toResult } from './result.ts'

const root = join(import.meta.dirname, '..')

/** From the command to a ready broker, and what it takes when nobody asks anything. Goals: 0.5 s and 80 MB. */
export async function benchStart(rounds: number): Promise<Result[]> {
  const times: Round[] = []
  const sizes: Round[] = []
  for (let round = 0; round <= rounds; round++) {
    const bare = await start([join(root, 'bench', 'servers', 'listen.mjs')], '/')
    const purser = await start([join(root, 'bin', 'purser.js'), 'serve', '--demo', '--port', '0'], '/readyz')
    if (round === 0) continue
    times.push({ ours: purser.ms, baseline: bare.ms })
    sizes.push({ ours: purser.megabytes, baseline: bare.megabytes })
  }
  const within = (goal: number, rows: readonly Round[]) => {
    const { ours, baseline } = toResult('', '', rows, atMost(0))
    return { text: `${goal} at most`, met: () => ours <= goal, baseline }
  }
  return [
    toResult('start to ready, against a bare server', 'ms', times, within(500, times)),
    toResult('memory when idle, against a bare server', 'MB', sizes, within(80, sizes)),
  ]
}

async function start(
  args: readonly string[],
  path: string,
): Promise<{ readonly ms: number; readonly megabytes: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'purser-bench-'))
  const started = performance.now()
  const child = spawn(process.execPath, [...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: cleanEnv(),
  })
  try {
    const url = await urlFrom(child.stdout)
    while (!(await isReady(url + path))) await new Promise(resolve => setTimeout(resolve, 2))
    const ms = performance.now() - started
    await new Promise(resolve => setTimeout(resolve, 3_000))
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8')
    return { ms, megabytes: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024 }
  } finally {
    await new Promise(resolve => {
      child.once('exit', resolve)
      child.kill('SIGKILL')
    })
    await rm(folder, { recursive: true })
  }
}

function cleanEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PURSER_')))
}

/** Keeps reading: a server whose output nobody takes would end. */
function urlFrom(output: Readable): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    output.on('data', (chunk: Buffer) => {
      text += chunk
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0]
      if (found !== undefined) resolve(found)
    })
    output.on('end', () => reject(new Error(`the server ended: ${text}`)))
  })
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok
  } catch {
    return false
  }
}
