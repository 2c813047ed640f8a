import { parseBundleSpec } from '../../bundle/spec.ts'
import type { Revision } from '../../domain/revision.ts'
import type { BundleParts, HostedRuntime } from '../../driver/bundle/parts.ts'
import { pullCredentials } from '../../registry/pull-credentials.ts'
import type { SecretReader } from '../../registry.ts'
import { SandboxRefusedError } from '../../sandbox.ts'
import type { Config } from '../config.ts'
import { type BundleFolders, isFolder } from './folders.ts'
import type { BundleRuntimes } from './runtimes.ts'

/** What runs a revision, and what is run. Credentials and folders are looked at anew each time. */
export function createRuntimeFor(
  { bundles, registries }: Pick<Config, 'registries'> & { readonly bundles: Pick<Config['bundles'], 'pull'> },
  { process, container, host }: BundleRuntimes,
  folders: Pick<BundleFolders, 'folderOf'>,
  secrets?: SecretReader,
): Pick<BundleParts, 'runtimeFor' | 'programFor' | 'runtimes'> {
  const byName = new Map(registries.map(settings => [settings.name, settings]))
  const hosted = (runtime: typeof process): HostedRuntime | undefined => runtime && { runtime, host }
  const [processes, containers] = [hosted(process), hosted(container)]
  return {
    runtimes: [processes, containers].filter(runtime => runtime !== undefined),
    runtimeFor(revision) {
      const found = isFolder(revision) ? processes : containers
      if (found === undefined) throw unfit(revision)
      return found
    },
    async programFor(revision) {
      const { entrypoint } = parseBundleSpec(revision.source, revision.fullName).spec ?? {}
      const program = entrypoint === undefined ? {} : { entrypoint }
      if (isFolder(revision)) return { kind: 'folder', folder: await folders.folderOf(revision), ...program }
      const registry = byName.get(revision.registry)
      const credentials = registry && (await pullCredentials(registry, secrets, new AbortController().signal))
      return {
        kind: 'image',
        image: revision.image,
        pull: bundles.pull,
        ...program,
        ...(credentials === undefined ? {} : { credentials }),
      }
    },
  }
}

function unfit(revision: Revision): SandboxRefusedError {
  return new SandboxRefusedError(
    isFolder(revision)
      ? `${revision.fullName} is a folder, which bundles.runtime does not run; set it to auto or process`
      : `${revision.fullName} is an image, and no container engine was found or bundles.runtime is process; set bundles.socket, and bundles.runtime to auto or container`,
  )
}
