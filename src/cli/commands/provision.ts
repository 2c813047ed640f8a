import type { Command } from 'commander'
import type { CliIo } from '../io.ts'
import { addConnectionOptions, addParameterOptions, addWaitOptions, examples } from '../options.ts'
import type { ProvisionOptions } from '../verbs/provision.ts'

export function defineProvisionCommand(program: Command, io: CliIo): void {
  const command = program
    .command('provision')
    .argument('<service>', 'name or id of the service')
    .argument('<plan>', 'name or id of the plan')
    .description('make an instance and wait until it is ready')
    .option('--id <id>', 'id of the new instance (default: a random UUID, which is printed)')
  addConnectionOptions(addWaitOptions(addParameterOptions(command)))
    .addHelpText(
      'after',
      `
The ids of the instance are remembered in .purser/cli.json in the current folder, so that later
commands need no --service and --plan; parameters and credentials never are.
${examples(
  'purser provision postgres small',
  'purser provision postgres small --param size=3 --param backup.daily=true',
  'purser provision postgres small --params @parameters.json --id my-db --no-wait',
)}`,
    )
    .action(async (service: string, plan: string, options: ProvisionOptions) => {
      const { runProvision } = await import('../verbs/provision.ts')
      await runProvision(io, service, plan, options)
    })
}
