import { realpathSync } from 'node:fs'
import { basename } from 'node:path'
import type { Command } from 'commander'
import type { CliIo } from '../io.ts'
import { writeNewFiles } from '../new-files.ts'
import { examples } from '../options.ts'
import { packageRoot, packageVersion } from '../package-info.ts'
import { toDependency, toPackageName } from '../project.ts'

export function defineCommand(program: Command, io: CliIo): void {
  program
    .command('init')
    .argument('[folder]', 'where to put it', '.')
    .description('write a new broker project that runs as it is')
    .addHelpText(
      'after',
      `
Writes package.json, broker.mjs, purser.yaml, README.md and .gitignore; never over a file that exists.
${examples('purser init my-broker', 'mkdir my-broker && cd my-broker && purser init')}`,
    )
    .action((folder: string) => init(io, folder))
}

async function init(io: CliIo, folder: string): Promise<void> {
  const root = realpathSync(packageRoot())
  const typed = await writeNewFiles(io, folder, 'project', realFolder => ({
    name: toPackageName(basename(realFolder)),
    // npm resolves a path from where the folder really is.
    purser: toDependency(root, packageVersion(), realFolder),
  }))
  const steps = [
    ...(typed === '' ? [] : [`cd ${typed}`]),
    'npm install',
    'npm start',
    'npx purser catalog    # in another terminal',
  ]
  io.stderr.write(`\nNext:\n${steps.map(step => `  ${step}\n`).join('')}`)
}
