import type { Command } from 'commander'
import type { CliIo } from '../io.ts'
import { addConnectionOptions, examples } from '../options.ts'
import type { ConnectionOptions } from '../session.ts'

export function defineCatalogCommand(program: Command, io: CliIo): void {
  addConnectionOptions(program.command('catalog').description('show what a broker offers'))
    .addHelpText('after', examples('purser catalog', 'purser catalog --url https://broker.example.com --output json'))
    .action(async (options: ConnectionOptions) => {
      const { runCatalog } = await import('../verbs/catalog.ts')
      await runCatalog(io, options)
    })
}
