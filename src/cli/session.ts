import { randomUUID } from 'node:crypto'
import {
  type AdminClient,
  type AsyncCallOptions,
  createAdminClient,
  createOsbClient,
  type OsbClient,
} from '../client/index.ts'
import { wrongUsage } from './cli-error.ts'
import type { CliIo } from './io.ts'
import { createMemory, type Memory } from './memory.ts'
import { renderFields, renderJson, toFields, withoutNull } from './render/fields.ts'

/** The connection options of a command, and the wait options where it has them. */
export interface SessionOptions {
  readonly url?: string
  /** `name:password`. */
  readonly user?: string
  readonly token?: string
  readonly apiVersion: string
  readonly output: 'json' | 'text'
  /** False with --no-wait. */
  readonly wait?: boolean
  /** True with --sync. */
  readonly sync?: boolean
  /** Milliseconds. */
  readonly timeout?: number
}

/** What one command needs to work with one broker. */
export interface Session {
  readonly io: CliIo
  readonly options: SessionOptions
  readonly client: OsbClient
  /** For the commands of operators. */
  readonly admin: AdminClient
  readonly memory: Memory
  /** For requests that change something: whether a 202 is welcome. */
  readonly callOptions: AsyncCallOptions
  /** Prints the result: the object for `--output json`, else the text. */
  print(result: object, text: string): void
  /** Prints the fields of a result; leaves out those that the broker did not send, or sent as null. */
  printFields(result: object): void
  /** Tells a person something that is not part of the result. */
  note(text: string): void
}

/** The action of a command with connection options: `run` gets a session in front of its arguments and options. */
export function onBroker<Args extends unknown[]>(io: CliIo, run: (session: Session, ...args: Args) => Promise<void>) {
  // Commander adds the options and the command.
  return (...args: unknown[]) => run(openSession(io, args.at(-2) as SessionOptions), ...(args as Args))
}

const defaultUrl = 'http://127.0.0.1:8080'

function openSession(io: CliIo, options: SessionOptions): Session {
  const { sync = false, output } = options
  const { client, admin } = connect(io, options)
  const print = (result: object, text: string) => void io.stdout.write(output === 'json' ? renderJson(result) : text)
  return {
    io,
    options,
    client,
    admin,
    memory: createMemory(io, client.url),
    callOptions: { acceptsIncomplete: !sync },
    print,
    printFields(result) {
      const fields = withoutNull(result)
      print(fields, renderFields(toFields(fields)))
    },
    note: text => void io.stderr.write(`${text}\n`),
  }
}

function connect(io: CliIo, options: SessionOptions): Pick<Session, 'client' | 'admin'> {
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
  if (user !== undefined && token !== undefined) {
    throw wrongUsage({
      what: 'there are two ways to sign in',
      why: '--user and --token exclude each other',
      next: 'Leave one of them off.',
    })
  }
  if (token !== undefined) return { token }
  if (user === undefined) return { username: io.env.PURSER_USERNAME, password: io.env.PURSER_PASSWORD }
  const colon = user.indexOf(':')
  if (colon < 1) {
    throw wrongUsage({
      what: '--user needs a name and a password',
      why: 'it does not begin with "name:"',
      next: 'Write --user name:password, or set PURSER_USERNAME and PURSER_PASSWORD.',
    })
  }
  return { username: user.slice(0, colon), password: user.slice(colon + 1) }
}
