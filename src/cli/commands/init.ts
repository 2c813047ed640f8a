import type { Command } from 'commander'
import type { CliIo } from '../io.ts'
import { examples } from '../options.ts'

export function defineInitCommand(program: Command, io: CliIo): void {
  program
    .command('init')
    .argument('[folder]', 'where to put it', '.')
    .description('write a new broker project that runs as it is')
    .addHelpText(
      'after',
      `
Writes package.json, broker.mjs, purser.yaml, README.md and .gitignore; never over a file that exists.
${examples('purser init my-broker', 'mkdir my-broker && cd my-broker && purser init')}`,
    )
    .action(async (folder: string) => {
      const { runInit } = await import('../verbs/init.ts')
      await runInit(io, folder)
    })
}
