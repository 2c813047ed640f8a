import { askPassword } from '../ask-hidden.ts'
import { wrongUsage } from '../cli-error.ts'
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
  const password = await askPassword(io)
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
