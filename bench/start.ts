import { join } from 'node:path'
import { inNewFolder } from './new-folder.ts'
import { atMost, type Result, type Round, toResult } from './result.ts'
import { type Served, serve } from './served.ts'

const root = join(import.meta.dirname, '..')

/** From the command to a ready broker, and what it takes when nobody asks anything. Goals: 0.5 s and 80 MB. */
export async function benchStart(rounds: number): Promise<Result[]> {
  const times: Round[] = []
  const sizes: Round[] = []
  for (let round = 0; round <= rounds; round++) {
    const bare = await measureBareStart()
    const purser = await inNewFolder(folder =>
      measureStart(() =>
        serve([join(root, 'bin', 'purser.js'), 'serve', '--demo', '--port', '0'], { folder, path: '/readyz' }),
      ),
    )
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

export interface Start {
  readonly ms: number
  readonly megabytes: number
}

/** The least that a server in Node.js takes. */
export function measureBareStart(): Promise<Start> {
  return inNewFolder(folder =>
    measureStart(() => serve([join(root, 'bench', 'servers', 'listen.mjs')], { folder, path: '/' })),
  )
}

/** Starts the server, leaves it alone for a while, and stops it. */
export async function measureStart(start: () => Promise<Served>): Promise<Start> {
  const server = await start()
  try {
    await new Promise(resolve => setTimeout(resolve, 3_000))
    return { ms: server.readyMs, megabytes: await server.megabytes() }
  } finally {
    await server.stop()
  }
}
