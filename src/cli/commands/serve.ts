import type { Command } from 'commander'
import { examples, parsePort } from '../options.ts'

interface ServeOptions {
  readonly host?: string
  readonly port?: number
  readonly store?: string
  readonly config?: string
}

export function defineServeCommand(program: Command): void {
  program
    .command('serve')
    .argument('[broker]', 'module whose default export is a broker (default: the one purser.yaml names)')
    .description('run a broker')
    .option('--host <host>', 'address to listen on (default: 127.0.0.1)')
    .option('--port <port>', 'port to listen on; 0 takes a free one (default: 8080)', parsePort)
    .option('--store <url>', 'where to keep state, such as sqlite:purser.db or memory:')
    .option('--config <file>', 'settings (default: purser.yaml in the current folder, if it is there)')
    .addHelpText(
      'after',
      examples(
        'purser serve broker.mjs',
        'purser serve --config purser.yaml --port 9000',
        'PURSER_USERNAME=admin PURSER_PASSWORD=... purser serve broker.mjs --host 0.0.0.0',
      ),
    )
    .action(async (module: string | undefined, options: ServeOptions) => {
      const path: string = '../../server/serve.ts'
      const { runServe } = (await import(path)) as { runServe(options: object): Promise<void> }
      await runServe({ module, ...options })
    })
}
