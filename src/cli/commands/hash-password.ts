import type { Command } from 'commander'
import type { CliIo } from '../io.ts'
import { examples } from '../options.ts'

export function defineHashPasswordCommand(program: Command, io: CliIo): void {
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
    .action(async () => {
      const { runHashPassword } = await import('../verbs/hash-password.ts')
      await runHashPassword(io)
    })
}
