import { randomUUID } from 'node:crypto'
import { createAdminClient, createOsbClient } from '../client/index.ts'
import { CliError, wrongUsage } from './cli-error.ts'
import type { CliCommand } from './command.ts'
import type { CliIo } from './io.ts'
import { createMemory } from './memory.ts'
import { renderFields, withoutNull } from './render/fields.ts'
import { type Output, render } from './render/output.ts'

/** The connection options of a command, and the wait options where it has them. */
export interface SessionOptions {
  readonly url?: string
  /** `name:password`. */
  readonly user?: string
  readonly token?: string
  readonly apiVersion: string
  readonly output: Output
  /** False with --no-wait. */
  readonly wait?: boolean
  readonly sync?: boolean
  readonly timeout?: number
  /** Of lists. */
  readonly order?: string
  readonly limit?: number
}

/** The action of a command with connection options: `run` gets a session in front of its arguments and options. */
export function onBroker<Args extends unknown[]>(run: (session: Session, ...args: Args) => Promise<void>) {
  return async (...args: unknown[]) => {
    const command = args.at(-1) as CliCommand
    const session = openSession(command.io, command.opts())
    try {
      await run(session, ...(args as Args))
    } catch (error) {
      const about = { ...session.about, ...(error instanceof CliError ? error.about : {}) }
      throw error instanceof Error ? Object.assign(error, { about }) : error
    }
  }
}

export type Session = ReturnType<typeof openSession>

/** What one command needs to work with one broker. */
export function openSession(io: CliIo, options: SessionOptions) {
  const { client, admin } = connect(io, options)
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
    /** Prints the fields of a result; leaves out those that the broker did not send, or sent as null. */
    printFields: (result: object) =>
      void io.stdout.write(render(withoutNull(result), renderFields(withoutNull(result)), output)),
    /** Tells a person something that is not part of the result. */
    note: (text: string) => void io.stderr.write(`${text}\n`),
  }
}

const defaultUrl = 'http://127.0.0.1:8080'

function connect(io: CliIo, options: SessionOptions) {
  const connection = {
    url: options.url ?? io.env.PURSER_URL ?? defaultUrl,
    ...chooseCredentials(io, options),
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
      next: `Give --url, or PURSER_URL; the default is ${defaultUrl}.`,
    })
  }
}

function chooseCredentials(io: CliIo, { user, token }: SessionOptions) {
  if (user !== undefined && token !== undefined)
    throw wrongUsage({
      what: 'there are two ways to sign in',
      why: '--user and --token exclude each other',
      next: 'Leave one of them off.',
    })
  if (token !== undefined) return { token }
  if (user === undefined) return { username: io.env.PURSER_USERNAME, password: io.env.PURSER_PASSWORD }
  const colon = user.indexOf(':')
  if (colon < 1)
    throw wrongUsage({
      what: '--user needs a name and a password',
      why: 'it does not begin with "name:"',
      next: 'Write --user name:password, or set PURSER_USERNAME and PURSER_PASSWORD.',
    })
  return { username: user.slice(0, colon), password: user.slice(colon + 1) }
}
