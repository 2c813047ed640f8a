import type { Command } from 'commander'
import { readCatalog } from '../catalog-lookup.ts'
import type { CliIo } from '../io.ts'
import { addConnectionOptions, examples } from '../options.ts'
import { renderCatalog } from '../render/catalog-table.ts'
import { type ConnectionOptions, openSession } from '../session.ts'

export function defineCommand(program: Command, io: CliIo): void {
  addConnectionOptions(program.command('catalog').description('show what a broker offers'))
    .addHelpText('after', examples('purser catalog', 'purser catalog --url https://broker.example.com --output json'))
    .action(async (options: ConnectionOptions) => {
      const session = openSession(io, options)
      const services = await readCatalog(session)
      session.print({ services }, renderCatalog(services))
    })
}
