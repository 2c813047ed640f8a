import { randomUUID } from 'node:crypto'
import {
  type AdminClient,
  createAdminClient,
  createOsbClient,
  type OsbClient,
  type OsbClientOptions,
} from '../client/index.ts'
import type { Json } from '../protocol/json.ts'
import { wrongUsage } from './cli-error.ts'
import type { CliIo } from './io.ts'
import { createMemory, type Memory } from './memory.ts'
import { readTimeout } from './options.ts'
import { renderFields, renderJson, toFields, withoutNull } from './render/fields.ts'

export interface ConnectionOptions {
  readonly url?: string
  /** `name:password`. */
  readonly user?: string
  readonly token?: string
  readonly apiVersion: string
  readonly output: 'json' | 'text'
}

export interface WaitOptions {
  /** False with --no-wait. */
  readonly wait: boolean
  /** True with --sync. */
  readonly sync?: boolean
  readonly timeout?: string
}

/** What one command needs to work with one broker. */
export interface Session {
  readonly io: CliIo
  readonly client: OsbClient
  /** For the commands of operators. */
  readonly admin: AdminClient
  readonly memory: Memory
  /** Prints the result: the object for `--output json`, else the text. */
  print(result: object, text: string): void
  /** Prints the fields of a result; leaves out those that the broker did not send, or sent as null. */
  printFields(result: Readonly<Record<string, Json | undefined>>): void
  /** Tells a person something that is not part of the result. */
  note(text: string): void
}

const defaultUrl = 'http://127.0.0.1:8080'

export function openSession(io: CliIo, options: ConnectionOptions & Partial<WaitOptions>): Session {
  const { client, admin } = connect(io, options, readRequestTimeout(options))
  const print = (result: object, text: string) =>
    void io.stdout.write(options.output === 'json' ? renderJson(result) : text)
  return {
    io,
    client,
    admin,
    memory: createMemory(io, client.url),
    print,
    printFields(result) {
      const fields = withoutNull(result)
      print(fields, renderFields(toFields(fields)))
    },
    note: text => void io.stderr.write(`${text}\n`),
  }
}

/** How long one request may take: with --sync as long as --timeout says. A wrong --timeout fails before any request. */
function readRequestTimeout({ sync, timeout }: Partial<WaitOptions>): number | undefined {
  const ms = timeout === undefined ? undefined : readTimeout(timeout)
  return sync === true ? ms : undefined
}

function connect(
  io: CliIo,
  options: ConnectionOptions,
  timeout: number | undefined,
): Pick<Session, 'client' | 'admin'> {
  const url = options.url ?? io.env.PURSER_URL ?? defaultUrl
  const connection: OsbClientOptions = {
    url,
    ...chooseCredentials(io, options),
    apiVersion: options.apiVersion,
    requestIdentity: randomUUID,
    timeout,
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

function chooseCredentials(io: CliIo, { user, token }: ConnectionOptions) {
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
