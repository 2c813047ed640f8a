import { randomUUID } from 'node:crypto'
import { createAdminClient, createOsbClient } from '../client/index.ts'
import { type BrokerFlags, chooseBroker, defaultUrl } from './choose-broker.ts'
import { CliError, wrongUsage } from './cli-error.ts'
import type { CliCommand } from './command.ts'
import type { CliIo } from './io.ts'
import { createMemory } from './memory.ts'
import { showInPager } from './pager.ts'
import { renderFields, withoutNull } from './render/fields.ts'
import { type Output, render } from './render/output.ts'

/** The connection options of a command, and the wait options where it has them. */
export interface SessionOptions extends BrokerFlags {
  readonly apiVersion: string
  readonly output: Output
  /** False with --no-wait. */
  readonly wait?: boolean
  readonly sync?: boolean
  readonly timeout?: number
  /** False with --no-pager. */
  readonly pager?: boolean
  /** Of lists. */
  readonly order?: string
  readonly limit?: number
}

/** The action of a command with connection options: `run` gets a session in front of its arguments and options. */
export function onBroker<Args extends unknown[]>(run: (session: Session, ...args: Args) => Promise<void>) {
  return async (...args: unknown[]) => {
    const command = args.at(-1) as CliCommand
    const session = await openSession(command.io, command.opts())
    try {
      await run(session, ...(args as Args))
    } catch (error) {
      const about = { ...session.about, ...(error instanceof CliError ? error.about : {}) }
      throw error instanceof Error ? Object.assign(error, { about }) : error
    }
  }
}

export type Session = Awaited<ReturnType<typeof openSession>>

/** What one command needs to work with one broker. */
export async function openSession(io: CliIo, options: SessionOptions) {
  const { client, admin } = await connect(io, options)
  const { sync = false, output } = options
  return {
    io,
    options,
    client,
    admin,
    /** What the command is about, for the JSON of a failure: filled in as soon as it is known. */
    about: {} as { instance_id?: string; binding_id?: string; operation?: string },
    memory: createMemory(io, client.url),
    /** For requests that change something: whether a 202 is welcome. */
    callOptions: { acceptsIncomplete: !sync },
    /** Prints the result: the object for `--output json`, else the text. */
    print: (result: object, text: string) => void io.stdout.write(render(result, text, output)),
    /** The same for what may be longer than a terminal: a person reads it in a pager. */
    async show(result: object, text: string) {
      const shown = render(result, text, output)
      const isPaged = output === 'text' && options.pager !== false && (await showInPager(io, shown))
      if (!isPaged) io.stdout.write(shown)
    },
    /** Prints the fields of a result; leaves out those that the broker did not send, or sent as null. */
    printFields: (result: object) =>
      void io.stdout.write(render(withoutNull(result), renderFields(withoutNull(result)), output)),
    /** Tells a person something that is not part of the result. */
    note: (text: string) => void io.stderr.write(`${text}\n`),
  }
}

async function connect(io: CliIo, options: SessionOptions) {
  const connection = {
    ...(await chooseBroker(io, options)),
    apiVersion: options.apiVersion,
    requestIdentity: randomUUID,
    // With --sync the one request lasts as long as the operation.
    timeout: options.sync ? options.timeout : undefined,
  }
  try {
    return { client: createOsbClient(connection), admin: createAdminClient(connection) }
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof URIError)) throw error
    throw wrongUsage({
      what: 'the address of the broker cannot be used',
      why: error.message,
      next: `Give --url, PURSER_URL or a profile; the default is ${defaultUrl}.`,
    })
  }
}
