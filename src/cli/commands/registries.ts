import type { Command } from 'commander'
import type { CliIo } from '../io.ts'
import { addConnectionOptions, examples } from '../options.ts'
import type { ConnectionOptions } from '../session.ts'

export function defineRegistriesCommand(program: Command, io: CliIo): void {
  const registries = program
    .command('registries')
    .description('show and ask the registries that bundles come from')
    .addHelpText('after', examples('purser registries list', 'purser registries sync'))
  addConnectionOptions(registries.command('list').description('show how every registry answers, and what came from it'))
    .addHelpText('after', examples('purser registries list', 'purser registries list --output json'))
    .action(async (options: ConnectionOptions) => {
      const { showRegistries } = await import('../verbs/registries.ts')
      await showRegistries(io, options)
    })
  addConnectionOptions(
    registries.command('sync').description('ask every registry now and wait until the catalog has what they offer'),
  )
    .addHelpText('after', examples('purser registries sync', 'purser registries sync --output json'))
    .action(async (options: ConnectionOptions) => {
      const { syncRegistries } = await import('../verbs/registries.ts')
      await syncRegistries(io, options)
    })
}
