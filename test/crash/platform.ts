import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createOsbClient, type OsbClient } from '../../src/client/index.ts'
import type { Passed, Ready } from './child.ts'

/** Of the broker: what plain Node runs. */
export interface Script {
  readonly file: string
  /** After the folder. */
  readonly args?: readonly string[]
}

interface Polled {
  readonly status: number
  readonly text: string
  readonly body: { readonly state?: string }
}

/** A platform that starts its broker again whenever it is gone, and repeats what was not answered. */
export class Platform {
  /** Every operation that was answered with a 202. */
  readonly accepted = new Set<string>()
  readonly folder: string
  readonly #script: Script
  crashes = 0
  #child: ChildProcess | undefined
  #client: OsbClient | undefined

  constructor(folder: string, script: Script) {
    this.folder = folder
    this.#script = script
  }

  /** Sends until there is an answer. */
  async send<T>(request: (client: OsbClient) => Promise<T>): Promise<T> {
    for (let tries = 0; tries < 100; tries += 1) {
      const { client, child } = await this.#running()
      try {
        return await request(client)
      } catch {
        // No answer: the broker is dying, or dead.
        await ended(child)
        this.crashes += 1
        this.#child = undefined
      }
    }
    throw new Error('the broker cannot be reached')
  }

  /** Sends until the answer is one of `finals`, or a 202 whose operation has ended; answers the status or the end. */
  async ask(
    request: (client: OsbClient) => Promise<{
      readonly status: number
      readonly text: string
      readonly body: { readonly operation?: string | null }
    }>,
    poll: (client: OsbClient, operation: string) => Promise<Polled>,
    finals: readonly number[],
  ): Promise<number | string> {
    for (;;) {
      const { status, body, text } = await this.send(request)
      if (finals.includes(status)) return status
      if (status === 202) return this.#end(body.operation ?? '', poll)
      if (status !== 422) throw new Error(`answered ${status} ${text}`)
      await pause()
    }
  }

  async #end(operation: string, poll: (client: OsbClient, operation: string) => Promise<Polled>): Promise<string> {
    this.accepted.add(operation)
    for (;;) {
      const { status, body, text } = await this.send(client => poll(client, operation))
      if (status !== 200) throw new Error(`the poll of ${operation} was answered ${status} ${text}`)
      if (body.state === 'succeeded' || body.state === 'failed') return body.state
      await pause()
    }
  }

  /** From now on: the broker dies at its nth point. Answers the points since the last call. */
  async crashIn(points: number | undefined): Promise<readonly string[]> {
    const { child } = await this.#running()
    child.send({ crashIn: points })
    const [message] = (await once(child, 'message')) as [Passed]
    return message.passed
  }

  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL')
    if (this.#child !== undefined) await ended(this.#child)
    this.#child = undefined
  }

  /** What is there of one instance: `one`, `two`, and its bindings. */
  things(instanceId: string): readonly string[] {
    return readdirSync(join(this.folder, 'things'))
      .filter(name => name.startsWith(`${instanceId}.`))
      .map(name => name.slice(instanceId.length + 1))
      .toSorted()
  }

  async #running(): Promise<{ readonly child: ChildProcess; readonly client: OsbClient }> {
    if (this.#child !== undefined && this.#client !== undefined && !hasEnded(this.#child))
      return { child: this.#child, client: this.#client }
    // It died between two requests.
    if (this.#child !== undefined) this.crashes += 1
    const { file, args = [] } = this.#script
    const child = fork(file, [this.folder, ...args], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    let complaints = ''
    child.stderr?.on('data', data => {
      complaints += data
    })
    const first = await Promise.race([once(child, 'message'), once(child, 'exit')])
    const ready = first[0] as Ready | number | null
    if (typeof ready !== 'object' || ready === null) throw new Error(`the broker did not start: ${complaints}`)
    this.#child = child
    this.#client = createOsbClient({ url: ready.url, timeout: 30_000 })
    return { child, client: this.#client }
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

async function ended(child: ChildProcess): Promise<void> {
  if (!hasEnded(child)) await once(child, 'exit')
}

/** Between two polls of a process that works on its own time; nothing depends on how long it is. */
function pause(): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, 20))
}
