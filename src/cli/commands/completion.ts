import { Argument } from 'commander'
import type { CliCommand } from '../command.ts'
import { scripts } from '../complete/scripts.ts'

export function defineCommand(program: CliCommand): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(scripts)))
    .description('print a script with which a shell completes commands, options and ids')
    .explain(
      'Ids of instances, operations, services and plans come from the broker that the command line names, or else the',
      'environment or the profile; where it does not answer within 300 ms there are none.',
    )
    .examples('source <(purser completion bash)', 'purser completion fish | source')
    .action((shell: keyof typeof scripts) => void program.io.stdout.write(scripts[shell]))
}
