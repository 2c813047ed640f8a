import { type CliCommand, collect } from '../command.ts'
import { render } from '../render/output.ts'

interface Flags {
  readonly config?: string
  readonly set?: readonly string[]
  readonly output: 'text' | 'json'
}

export function defineCommand(program: CliCommand): void {
  const config = program
    .command('config')
    .description('look at the settings of a broker')
    .examples('purser config check')
  config
    .command('check')
    .description('read the settings as a broker would, and list every mistake; nothing is opened or started')
    .option('--config <file>', 'settings (default: purser.yaml in the current folder, if it is there)')
    .option('--set <setting=value>', 'any setting by its name; may be given several times', collect)
    .outputOption()
    .examples('purser config check --config purser.yaml')
    .action(async ({ config: file, set, output }: Flags) => {
      const { loadConfig, maskStoreUrl } = await import('../../server/config.ts')
      const { env, cwd, stdout } = program.io
      const { store, registries, warnings, file: read } = await loadConfig({ file, env, flags: { set }, cwd })
      const found = { file: read, store: maskStoreUrl(store), registries: registries.length, warnings }
      const where = read ?? 'There is no file: the environment and the defaults'
      const lines = [`${where}: no mistakes. The store is ${found.store}.`, ...warnings.map(each => `warning: ${each}`)]
      stdout.write(render(found, `${lines.join('\n')}\n`, output))
    })
}
