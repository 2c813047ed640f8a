import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { interrupted, wrongUsage } from '../cli-error.ts'
import type { CliCommand } from '../command.ts'
import type { CliIo } from '../io.ts'

export function defineCommand(program: CliCommand): void {
  program
    .command('hash-password')
    .description('turn a password into the hash that purser.yaml takes')
    .explain(
      'The password is asked for, or read from a pipe (one line end at its end does not count). Only the',
      'hash is printed: put it into purser.yaml as auth.basic[].passwordHash.',
    )
    .examples('purser hash-password', 'openssl rand -base64 24 | tee password.txt | purser hash-password')
    .action(() => runHashPassword(program.io))
}

async function runHashPassword(io: CliIo): Promise<void> {
  // A line end at the end belongs to the pipe, not to the password.
  const password = io.stdin.isTTY === true ? await askTwice(io) : (await text(io.stdin)).replace(/\r?\n$/, '')
  if (password === '')
    throw wrongUsage({
      what: 'there is no password',
      why: 'it is empty',
      next: 'Type one when asked, or pipe one in: openssl rand -base64 24 | purser hash-password',
    })
  const { hashPassword, hasControls } = await import('../../authenticator/password.ts')
  if (hasControls(password))
    throw wrongUsage({
      what: 'no hash was made',
      why: 'the password holds a control character, such as a tab or a line end, which no client can send',
      next: 'Choose another one: openssl rand -base64 24 | purser hash-password',
    })
  io.stdout.write(`${await hashPassword(password)}\n`)
}

async function askTwice(io: CliIo): Promise<string> {
  const password = await askHidden(io, 'Password: ')
  if (password !== '' && (await askHidden(io, 'Once more: ')) !== password)
    throw wrongUsage({ what: 'no hash was made', why: 'the two passwords differ', next: 'Run it again.' })
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
