import { realpathSync } from 'node:fs'
import type { CliCommand } from '../command.ts'
import type { CliIo } from '../io.ts'
import { showNextSteps, toDependency, toPackageName, writeNewFiles } from '../new-files.ts'
import { packageRoot, packageVersion } from '../package-info.ts'

export function defineCommand(program: CliCommand): void {
  program
    .command('init')
    .argument('[folder]', 'where to put it', '.')
    .description('write a new broker project that runs as it is')
    .explain('Writes package.json, broker.mjs, purser.yaml, README.md and .gitignore; never over a file that exists.')
    .examples('purser init my-broker', 'mkdir my-broker && cd my-broker && purser init')
    .action((folder: string) => init(program.io, folder))
}

async function init(io: CliIo, folder: string): Promise<void> {
  const root = realpathSync(packageRoot())
  const typed = await writeNewFiles(io, folder, 'project', realFolder => ({
    name: toPackageName(realFolder),
    // npm resolves a path from where the folder really is.
    purser: toDependency(root, packageVersion(), realFolder),
  }))
  const steps = ['npm install', 'npm start', 'npx purser catalog    # in another terminal']
  if (typed !== '') steps.unshift(`cd ${typed}`)
  showNextSteps(io, steps)
}
