import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { interrupted, wrongUsage } from './cli-error.ts'
import type { CliIo } from './io.ts'

/** A password: asked for twice on a terminal, without showing it, else all of stdin. */
export async function askPassword(io: CliIo): Promise<string> {
  // A line end at the end belongs to the pipe, not to the password.
  if (io.stdin.isTTY !== true) return (await text(io.stdin)).replace(/\r?\n$/, '')
  const password = await askHidden(io, 'Password: ')
  if (password !== '' && (await askHidden(io, 'Once more: ')) !== password)
    throw wrongUsage({ what: 'nothing was done', why: 'the two passwords differ', next: 'Run it again.' })
  return password
}

/** Asks on stderr and reads one line without showing it. */
async function askHidden(io: CliIo, question: string): Promise<string> {
  io.stderr.write(question)
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  try {
    // Ctrl-C ends the lines.
    for await (const line of createInterface({ input: io.stdin, output: nowhere, terminal: true, historySize: 0 }))
      return line
  } finally {
    io.stderr.write('\n')
  }
  throw interrupted({ what: 'no password was given', why: 'interrupted', next: 'Run it again.' })
}
