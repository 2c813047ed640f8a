import type { ServeOptions } from '../../server/serve.ts'
import { type CliCommand, collect, parsePort } from '../command.ts'
import { commandName } from '../package-info.ts'

export function defineCommand(program: CliCommand): void {
  program
    .command('serve')
    .argument('[broker]', 'module whose default export is a broker (default: the one purser.yaml names)')
    .description('run a broker')
    .option('--host <host>', 'address to listen on (default: 127.0.0.1)')
    .option('--port <port>', 'port to listen on; 0 takes a free one (default: 8080)', parsePort)
    .option('--store <url>', 'where to keep state, such as sqlite:purser.db or memory:')
    .option('--set <setting=value>', 'any setting by its name; may be given several times', collect)
    .option('--config <file>', 'settings (default: purser.yaml in the current folder, if it is there)')
    .option('--demo', 'serve the demo catalog where no broker is named')
    .examples(
      'purser serve broker.mjs',
      'purser serve --config purser.yaml --port 9000',
      'PURSER_USERNAME=admin PURSER_PASSWORD=... purser serve broker.mjs --host 0.0.0.0',
    )
    .action(async (module: string | undefined, options: Partial<ServeOptions>) => {
      const { runServe } = await import('../../server/serve.ts')
      const { env, cwd } = program.io
      await runServe({ ...options, module, command: commandName(cwd), env, cwd, stdout: process.stdout })
    })
}
