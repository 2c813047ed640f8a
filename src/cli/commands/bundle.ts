import type { BuildOptions } from '../bundle/build.ts'
import type { LintOptions } from '../bundle/lint.ts'
import type { PushOptions } from '../bundle/push.ts'
import type { RunOptions } from '../bundle/run.ts'
import type { ShowOptions } from '../bundle/show.ts'
import { type CliCommand, collect, parseTimeout } from '../command.ts'
import { showNextSteps, toBundleName, writeNewFiles } from '../new-files.ts'

export function defineCommand(program: CliCommand): void {
  const bundle = program
    .command('bundle')
    .description('write, check, run and publish bundles')
    .examples('purser bundle init my-bundle', 'purser bundle lint my-bundle', 'purser bundle run provision my-bundle')
  defineInit(bundle)
  defineLint(bundle)
  defineShow(bundle)
  defineRun(bundle)
  defineBuild(bundle)
  definePush(bundle)
}

interface InitOptions {
  readonly ansible?: boolean
  readonly manifests?: boolean
}

function defineInit(bundle: CliCommand): void {
  bundle
    .command('init')
    .argument('[folder]', 'where to put it', '.')
    .description('write a new bundle that runs as it is')
    .option('--ansible', 'write it in Ansible: a playbook for each action, and one for its test')
    .option('--manifests', 'write one that consists of Kubernetes objects, with no program at all')
    .explain(
      'Writes bundle.yml, entrypoint.sh, Containerfile and .gitignore; never over a file that exists.',
      'With --ansible also playbooks/<action>.yml and roles/service; running it needs ansible-playbook.',
      'With --manifests only bundle.yml and .gitignore; running it needs a cluster (KUBECONFIG).',
    )
    .examples(
      'purser bundle init my-bundle',
      'purser bundle init --ansible my-bundle',
      'purser bundle init --manifests my-bundle',
    )
    .action(async (folder: string, { ansible = false, manifests = false }: InitOptions) => {
      const what = manifests ? 'bundle of manifests' : ansible ? 'bundle with Ansible' : 'bundle'
      const typed = await writeNewFiles(bundle.io, folder, what, realFolder => ({ name: toBundleName(realFolder) }))
      const where = typed === '' ? '' : ` ${typed}`
      showNextSteps(bundle.io, [
        `purser bundle lint${where || ' .'}`,
        `purser bundle run provision${where}`,
        `purser bundle run bind${where} --show-credentials`,
        ...(manifests ? [`purser bundle run deprovision${where}`] : [`purser bundle build${where}`]),
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

function defineShow(bundle: CliCommand): void {
  bundle
    .command('show')
    .argument('[path]', 'the folder of the bundle, or a file such as bundle.yml', '.')
    .description('show what a platform will see of a bundle, what it runs, and what is wrong with it')
    .option('--registry <name>', 'name of the registry that will offer it: the names and ids follow from it', 'local')
    .outputOption()
    .explain(
      'With --output json the service is as in GET /v2/catalog. The exit code is 1 if the bundle cannot be used.',
    )
    .examples('purser bundle show my-bundle', 'purser bundle show my-bundle --registry team --output json')
    .action(async (path: string, options: Omit<ShowOptions, 'path'>) => {
      const { showBundle } = await import('../bundle/show.ts')
      await showBundle(bundle.io, { ...options, path })
    })
}

function defineBuild(bundle: CliCommand): void {
  bundle
    .command('build')
    .argument('[folder]', 'the folder of the bundle', '.')
    .description('make an image of a bundle, with the labels that registries read')
    .option('--tag <image>', 'name of the image (default: its name and bundle_version, on localhost)')
    .option('--build-arg <key=value>', 'a value for an ARG of its Containerfile; repeatable', collect)
    .addOption(engineOption(bundle))
    .outputOption()
    .explain('Builds the Containerfile, or else the Dockerfile, of the folder. The spec becomes a label.')
    .examples(
      'purser bundle build my-bundle',
      'purser bundle build my-bundle --tag registry.example.com/team/my-bundle:1.0',
    )
    .action(async (folder: string, options: Omit<BuildOptions, 'folder'>) => {
      const { buildBundle } = await import('../bundle/build.ts')
      await buildBundle(bundle.io, { ...options, folder })
    })
}

function definePush(bundle: CliCommand): void {
  bundle
    .command('push')
    .argument('<image>', 'the image that was built, such as registry.example.com/team/my-bundle:1.0')
    .description('push the image of a bundle to its registry, and say how a broker offers it')
    .option('--insecure', 'the registry has no TLS: for experiments')
    .addOption(engineOption(bundle))
    .outputOption()
    .explain(
      "Credentials are the engine's own: podman login, buildah login or docker login keeps them, and REGISTRY_AUTH_FILE",
      'or DOCKER_CONFIG say where. They are never arguments.',
    )
    .examples('purser bundle push registry.example.com/team/my-bundle:1.0')
    .action(async (image: string, options: Omit<PushOptions, 'image'>) => {
      const { pushBundle } = await import('../bundle/push.ts')
      await pushBundle(bundle.io, { ...options, image })
    })
}

function engineOption(bundle: CliCommand) {
  const option = bundle.createOption('--engine <engine>', 'what makes images (default: the first of these there is)')
  return option.choices(['podman', 'buildah', 'docker'])
}

const actions = ['provision', 'update', 'bind', 'unbind', 'deprovision', 'test']
