import { realpathSync } from 'node:fs'
import { packageVersion } from '../../running/package-version.ts'
import type { CliCommand } from '../command.ts'
import type { CliIo } from '../io.ts'
import { showNextSteps, toDependency, toPackageName, writeNewFiles } from '../new-files.ts'
import { packageRoot } from '../package-info.ts'

export function defineCommand(program: CliCommand): void {
  program
    .command('init')
    .argument('[folder]', 'where to put it', '.')
    .description('write a new broker project that runs as it is')
    .option('--typescript', 'write it in TypeScript, with a test')
    .explain(
      'Writes package.json, broker.mjs, purser.yaml, README.md and .gitignore; never over a file that exists.',
      'With --typescript: tsconfig.json, src/broker.ts, src/notes.ts and src/notes.test.ts instead of broker.mjs.',
    )
    .examples(
      'purser init my-broker',
      'purser init --typescript my-broker',
      'mkdir my-broker && cd my-broker && purser init',
    )
    .action((folder: string, { typescript = false }: InitOptions) => init(program.io, folder, typescript))
}

interface InitOptions {
  readonly typescript?: boolean
}

async function init(io: CliIo, folder: string, typescript: boolean): Promise<void> {
  const root = realpathSync(packageRoot())
  const commands = ['npm install', ...(typescript ? ['npm test'] : []), 'npm start']
  const typed = await writeNewFiles(io, folder, typescript ? 'TypeScript project' : 'project', realFolder => ({
    name: toPackageName(realFolder),
    // npm resolves a path from where the folder really is.
    purser: toDependency(root, packageVersion(), realFolder),
    module: typescript ? 'dist/broker.js' : 'broker.mjs',
    source: typescript ? 'src/notes.ts' : 'broker.mjs',
    commands: commands.join('\n'),
  }))
  const steps = [...commands, 'npx purser catalog    # in another terminal']
  if (typed !== '') steps.unshift(`cd ${typed}`)
  showNextSteps(io, steps)
}
