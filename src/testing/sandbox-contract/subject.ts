import { sleep, systemClock } from '../../clock.ts'
import type { Runtime, SandboxProgram, SandboxSpec, SandboxStatus } from '../../sandbox.ts'

/** A place for sandboxes, empty at first. Each case gets one of its own. */
export interface SandboxSubject {
  /** A runtime on the subject's sandboxes; another call is another broker. Its clock may be ahead, by milliseconds. */
  open(ahead?: number): Promise<Runtime>
  /** A bundle whose entry point is a POSIX shell script with the usual small tools. */
  program(script: string): Promise<SandboxProgram>
  /** Whether it can cut sandboxes off from the network; where it cannot, they are started with one. */
  readonly isolates: boolean
  /** How many processes of this machine have the text in their arguments. */
  survivors(text: string): number
  /** What there is on the machine of sandboxes, but for the names of those that were removed. */
  leftovers(): Promise<readonly string[]>
  /** Takes everything away, sandboxes that still run included. */
  destroy(): Promise<void>
}

export interface SandboxCase {
  readonly name: string
  /** To be skipped where the subject does not isolate. */
  readonly needsIsolation: boolean
  run(subject: SandboxSubject): Promise<void>
}

export interface Wish extends Partial<Omit<SandboxSpec, 'program' | 'inputs'>> {
  readonly inputs?: Partial<SandboxSpec['inputs']>
}

export interface Bench {
  readonly subject: SandboxSubject
  readonly runtime: Runtime
  spec(script: string, wish?: Wish): Promise<SandboxSpec>
  /** Starts it and waits for its end. */
  run(script: string, wish?: Wish): Promise<SandboxStatus>
}

/** The name of a case's only sandbox. */
export const only = 'operation-1'

export function sandboxCase(name: string, body: (bench: Bench) => Promise<void>): SandboxCase {
  return {
    name,
    needsIsolation: false,
    async run(subject) {
      const runtime = await subject.open()
      const spec = async (script: string, wish: Wish = {}): Promise<SandboxSpec> => ({
        name: only,
        labels: {},
        limits: { time: 600_000 },
        network: subject.isolates ? 'none' : 'allowed',
        ...wish,
        program: await subject.program(script),
        inputs: { action: 'provision', input: {}, extraVars: {}, state: {}, helpers: {}, env: {}, ...wish.inputs },
      })
      await body({
        subject,
        runtime,
        spec,
        async run(script, wish) {
          const wanted = await spec(script, wish)
          await runtime.start(wanted)
          return runtime.wait(wanted.name, never())
        },
      })
    },
  }
}

export function never(): AbortSignal {
  return new AbortController().signal
}

/** Asks again until the answer is one; a test's own timeout ends what never comes. */
export async function until<Answer>(ask: () => Promise<Answer | undefined | false>): Promise<Answer> {
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    await sleep(systemClock, 20)
  }
}
