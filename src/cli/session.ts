import { randomUUID } from 'node:crypto'
import type { AdminClient, OsbClient, OsbClientOptions } from '../client/index.ts'
import { createAdminClient, createOsbClient } from '../client/index.ts'
import type { JsonObject } from '../protocol/json.ts'
import { wrongUsage } from './cli-error.ts'
import type { CliIo } from './io.ts'
import type { Memory } from './memory.ts'
import { createMemory } from './memory.ts'
import { renderJson } from './render/fields.ts'

export interface ConnectionOptions {
  readonly url?: string
  /** `name:password`. */
  readonly user?: string
  readonly token?: string
  readonly apiVersion: string
  readonly output: 'json' | 'text'
}

/** One command's talk with one broker. */
export interface Session {
  readonly io: CliIo
  readonly client: OsbClient
  /** For operators' commands. */
  readonly admin: AdminClient
  readonly memory: Memory
  /** Prints the result: the object for `--output json`, else the text. */
  print(result: object, text: string): void
  /** Tells a person something that is no result. */
  note(text: string): void
}

const defaultUrl = 'http://127.0.0.1:8080'

export function openSession(io: CliIo, options: ConnectionOptions, requestTimeout?: number): Session {
  const { client, admin } = connect(io, options, requestTimeout)
  return {
    io,
    client,
    admin,
    memory: createMemory(io, client.url),
    print(result, text) {
      io.stdout.write(options.output === 'json' ? renderJson(result) : text)
    },
    note(text) {
      io.stderr.write(`${text}\n`)
    },
  }
}

/** The parts of an object that are there. */
export function present(value: Record<string, JsonObject[string] | null>): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined && part !== null))
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
      what: 'the address of the broker is not usable',
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
      why: 'there is no "name:" in front',
      next: 'Write --user name:password, or set PURSER_USERNAME and PURSER_PASSWORD.',
    })
  }
  return { username: user.slice(0, colon), password: user.slice(colon + 1) }
}
