import type { Command } from 'commander'
import { askHidden } from '../ask-hidden.ts'
import { wrongUsage } from '../cli-error.ts'
import type { CliIo } from '../io.ts'
import { examples } from '../options.ts'

export function defineCommand(program: Command, io: CliIo): void {
  program
    .command('hash-password')
    .description('turn a password into the hash that purser.yaml takes')
    .addHelpText(
      'after',
      `
The password is asked for, or read from a pipe (one line end at its end does not count). Only the
hash is printed: put it into purser.yaml as auth.basic[].passwordHash.
${examples('purser hash-password', 'openssl rand -base64 24 | tee password.txt | purser hash-password')}`,
    )
    .action(() => runHashPassword(io))
}

async function runHashPassword(io: CliIo): Promise<void> {
  const password = io.stdin.isTTY === true ? await askTwice(io) : await readPiped(io)
  if (password === '') {
    throw wrongUsage({
      what: 'there is no password',
      why: 'it is empty',
      next: 'Type one when asked, or pipe one in: openssl rand -base64 24 | purser hash-password',
    })
  }
  const { hashPassword } = await import('../../authenticator/password.ts')
  io.stdout.write(`${await hashPassword(password)}\n`)
}

async function askTwice(io: CliIo): Promise<string> {
  const password = await askHidden(io, 'Password: ')
  if (password !== '' && (await askHidden(io, 'Once more: ')) !== password) {
    throw wrongUsage({ what: 'no hash was made', why: 'the two passwords differ', next: 'Run it again.' })
  }
  return password
}

/** A line end at the end belongs to the pipe, not to the password. */
async function readPiped(io: CliIo): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of io.stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '')
}
