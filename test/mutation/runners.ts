import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { MutatedRun, Run } from './mutated-run.ts'

const idle: ChildProcess[] = []
const started = new Set<ChildProcess>()
/** The end of what each has written to its standard error. */
const said = new WeakMap<ChildProcess, string>()

/** In a process that is free, or in one more. */
export async function runMutated(run: Run): Promise<MutatedRun> {
  const child = idle.pop() ?? startRunner()
  const over = new AbortController()
  try {
    child.send({ name: run.name, suite: run.suite, only: run.only, hangs: run.hangs })
    const [answer] = await Promise.race([
      once(child, 'message', over),
      once(child, 'exit', over).then(([code]) => {
        throw new Error(`the process that ran the tests ended with ${code}: ${said.get(child)}`)
      }),
    ])
    idle.push(child)
    return answer
  } finally {
    over.abort()
  }
}

export function endRunners(): void {
  for (const child of started) child.kill()
}

function startRunner(): ChildProcess {
  const file = fileURLToPath(new URL('mutated-run.ts', import.meta.url))
  const child = fork(file, { execArgv: ['--import', 'tsx'], stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  child.stderr?.setEncoding('utf8').on('data', text => said.set(child, `${said.get(child) ?? ''}${text}`.slice(-5_000)))
  started.add(child)
  return child
}
