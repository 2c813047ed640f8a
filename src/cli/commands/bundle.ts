import type { LintOptions } from '../bundle/lint.ts'
import type { RunOptions } from '../bundle/run.ts'
import { type CliCommand, parseTimeout } from '../command.ts'
import { showNextSteps, toBundleName, writeNewFiles } from '../new-files.ts'

export function defineCommand(program: CliCommand): void {
  const bundle = program
    .command('bundle')
    .description('write, check and run bundles')
    .examples('purser bundle init my-bundle', 'purser bundle lint my-bundle', 'purser bundle run provision my-bundle')
  defineInit(bundle)
  defineLint(bundle)
  defineRun(bundle)
}

function defineInit(bundle: CliCommand): void {
  bundle
    .command('init')
    .argument('[folder]', 'where to put it', '.')
    .description('write a new bundle that runs as it is')
    .option('--ansible', 'write it in Ansible: a playbook for each action, and one for its test')
    .explain(
      'Writes bundle.yml, entrypoint.sh, Containerfile and .gitignore; never over a file that exists.',
      'With --ansible also playbooks/<action>.yml and roles/service; running it needs ansible-playbook.',
    )
    .examples('purser bundle init my-bundle', 'purser bundle init --ansible my-bundle')
    .action(async (folder: string, { ansible = false }: { readonly ansible?: boolean }) => {
      const what = ansible ? 'bundle with Ansible' : 'bundle'
      const typed = await writeNewFiles(bundle.io, folder, what, realFolder => ({ name: toBundleName(realFolder) }))
      const where = typed === '' ? '' : ` ${typed}`
      showNextSteps(bundle.io, [
        `purser bundle lint${where || ' .'}`,
        `purser bundle run provision${where}`,
        `purser bundle run bind${where} --show-credentials`,
      ])
    })
}

function defineLint(bundle: CliCommand): void {
  bundle
    .command('lint')
    .argument('<paths...>', 'folders of bundles, or files such as bundle.yml')
    .description('check bundles and say everything that is wrong with them')
    .outputOption()
    .explain(
      'In a folder it also checks the program that it runs, and links that lead out of it.',
      'The exit code is 1 if a bundle cannot be used.',
    )
    .examples('purser bundle lint my-bundle', 'purser bundle lint bundles/* --output json')
    .action(async (paths: readonly string[], options: LintOptions) => {
      const { lintBundles } = await import('../bundle/lint.ts')
      await lintBundles(bundle.io, paths, options)
    })
}

function defineRun(bundle: CliCommand): void {
  const timeout = 'longest time for the action, where the bundle says nothing, such as 90s (default: 1h)'
  bundle
    .command('run')
    .addArgument(bundle.createArgument('<action>', 'what to run').choices(actions))
    .argument('[folder]', 'the folder of the bundle', '.')
    .description('run one action of a bundle as a broker would, without a broker')
    .option('--plan <plan>', "name of the plan (default: the instance's, else the first one)")
    .option('--instance <id>', 'id of the instance', 'dev')
    .option('--binding <id>', 'id of the binding', 'dev')
    .parameterOptions()
    .outputOption()
    .option('--secrets <file>', 'YAML or JSON file with what the operator gives to the bundle')
    .option('--image <image>', 'run this image in a container instead of the folder as a process')
    .option('--network', 'let the action use the network')
    .option('--timeout <duration>', timeout, parseTimeout)
    .option('--state-file <file>', 'where to keep state between runs (default: .bundle-run.json in the folder)')
    .option('--show-credentials', 'print the values of credentials, not only their names')
    .explain(
      "Parameters, state and credentials are kept between runs in .bundle-run.json in the bundle's folder,",
      'readable for you only. They may be secret: never put that file under version control.',
      'test runs the test of the bundle, on an instance that was provisioned here or without one; the exit code is 1',
      'if it failed.',
    )
    .examples(
      'purser bundle run provision --param size=3',
      'purser bundle run bind --show-credentials',
      'purser bundle run deprovision',
      'purser bundle run test',
      'purser bundle run provision my-bundle --image registry.example.com/my-bundle:1.0',
    )
    .action(async (action: RunOptions['action'], folder: string, options: Omit<RunOptions, 'action' | 'folder'>) => {
      const { runBundle } = await import('../bundle/run.ts')
      await runBundle(bundle.io, { ...options, action, folder })
    })
}

const actions = ['provision', 'update', 'bind', 'unbind', 'deprovision', 'test']
