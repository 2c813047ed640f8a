import { createHash } from 'node:crypto'
import { dirname, resolve } from 'node:path'
import { createLedgerId } from '../../broker/ledger-id.ts'
import { createPinnedKeeper } from '../../broker/registries/keep-pinned.ts'
import { createUnusedSandboxRemover } from '../../broker/registries/remove-unused-sandboxes.ts'
import type { Clock } from '../../clock.ts'
import { programKindOf } from '../../domain/revision.ts'
import { createBundleDriver } from '../../driver/bundle/bundle-driver.ts'
import { entriesOf } from '../../driver/bundle/secrets.ts'
import { openClusterLater } from '../../kubernetes/open-later.ts'
import { type Observer, toError } from '../../observer.ts'
import type { RegistryParts } from '../../registry/registry-type.ts'
import type { RegistrySettings } from '../../registry/settings.ts'
import { createRegistry } from '../../registry/types.ts'
import type { Registry, SecretReader } from '../../registry.ts'
import type { Runtime } from '../../sandbox.ts'
import type { ConfigSettings } from '../../settings/config.ts'
import type { Store } from '../../store.ts'
import type { Tracer } from '../../tracer.ts'
import { traceRuntime } from '../open-tracer.ts'
import type { RegistryOptions } from '../start-broker.ts'
import { StartError } from '../start-error.ts'
import { createBundleFolders } from './folders.ts'
import { openManifests } from './manifests.ts'
import { openSecrets } from './open-secrets.ts'
import { createRuntimes, findRepeated, type RuntimeParts } from './runtimes.ts'
import { createImageOf, createProgramFor, proxyVariables, readHelpers } from './sandbox-inputs.ts'
import { createSecretReader } from './secrets.ts'

/** What a configuration says about bundles, complete and checked. */
export interface BundleSettings extends Pick<ConfigSettings, 'bundles'> {
  readonly registries: readonly RegistrySettings[]
}

/** What a broker has opened before its bundles. */
export interface OpenedParts {
  readonly store: Store
  readonly storeNow: () => number
  readonly clock: Clock
  readonly observer: Observer
  /** Where traces are on. */
  readonly tracer?: Tracer
}

export interface OpenBundlesParts extends OpenedParts, RuntimeParts {
  /** Written by others. */
  readonly registries?: readonly Registry[]
}

/** A sandbox is left alone for so long: whoever starts it may not have noted that yet. */
const removalGrace = 60_000

/** From the configuration to everything that a broker needs to serve what registries offer. */
export async function openBundles(config: BundleSettings, parts: OpenBundlesParts): Promise<RegistryOptions> {
  const { store, storeNow, clock, env, observer, tracer } = parts
  const { bundles } = config
  const { output, processes, memory, cpu, network, keepOnError } = bundles
  const { runtimes: opened, host } = await createRuntimes(config, {
    ...parts,
    hidden: [...privateFolders(bundles, store), ...(parts.hidden ?? [])],
  })
  const runtimes = tracer === undefined ? opened : opened.map(runtime => traceRuntime(runtime, tracer))
  const folders = createBundleFolders(bundles.folder, observer)
  const open = openClusterLater(bundles.kubernetes, { clock, env })
  const secrets = openSecrets(bundles, open)
  const secretsFor = createSecretReader(bundles.secrets, secrets)
  // Brokers on one machine may share a folder or a container engine; those on one ledger are one broker.
  const brokerLabel = createHash('sha256').update(store.name).digest('base64url').slice(0, 16)
  const registries = createRegistries(config, { ...parts, secrets, open })
  const shared = { runtimes, clock, keepOnError, brokerLabel, observer }
  const manifests = openManifests(bundles, { clock, open, storeNow, secretsFor, brokerId: createLedgerId(store) })
  const driveBundle = createBundleDriver({
    ...shared,
    host,
    programFor: createProgramFor({ pull: bundles.pull, folders, registries }),
    storeNow,
    limits: { time: bundles.timeout, output, processes, memory, cpu },
    network,
    env: network === 'allowed' ? proxyVariables(env) : {},
    helpers: await readHelpers(),
    secretsFor,
  })
  const keep = bundles.keepPinned ? keepOn(runtimes, brokerLabel) : undefined
  const imageOf = createImageOf({ pull: bundles.pull, registries })
  const keeper = keep && createPinnedKeeper({ keep, imageOf, store, clock, observer })
  return {
    registries,
    drive: (revision, spec) => (spec.manifests === undefined ? driveBundle : manifests.drive)(revision, spec),
    watch: manifests.watch,
    async given(fullName) {
      try {
        return Object.keys(entriesOf(await secretsFor(fullName)))
      } catch (error) {
        observer['bundle.secretsFailed']?.({ bundle: fullName, error: toError(error) })
        return []
      }
    },
    async onCatalog(revisions) {
      manifests.look(revisions)
      const kept = revisions.filter(revision => programKindOf(revision) === 'folder')
      await folders.keepFolders(kept)
      await folders.deleteUnusedFolders(new Set(kept.map(({ digest }) => digest)))
      keeper?.look(revisions)
    },
    keepPinned: keeper?.run,
    removeUnusedSandboxes: createUnusedSandboxRemover({ ...shared, store, graceMs: removalGrace }),
  }
}

/** What keeps images; undefined where no runtime runs any. */
function keepOn(runtimes: readonly Runtime[], owner: string) {
  const runtime = runtimes.find(({ runs }) => runs.includes('image'))
  if (runtime === undefined || runtime.keep !== undefined) return runtime?.keep?.bind(runtime, owner)
  throw new StartError(
    'bundles.keepPinned is on, and nothing can keep images.',
    `The runtime "${runtime.type}", which runs images, has no method "keep".`,
    'Give it one, or turn bundles.keepPinned off.',
  )
}

/** Folders with secrets of the broker's: its ledger, and what operators gave it for single bundles. */
function privateFolders({ secretsFolder, secrets }: BundleSettings['bundles'], { name }: Store): readonly string[] {
  const [, ledger] = /^sqlite:(.+)$/.exec(name) ?? []
  const files = [ledger, ...secrets.map(({ file }) => file)].flatMap(file => file ?? [])
  return [secretsFolder, ...files.map(file => dirname(resolve(file)))]
}

type RegistriesParts = Pick<OpenBundlesParts, 'clock' | 'env' | 'registries'> & {
  readonly secrets: SecretReader
  /** Of the cluster, for registries that are in one. */
  readonly open?: RegistryParts['cluster']
}

/** The registries of a configuration, in its order, and then those of others. Nothing is asked yet. */
export function createRegistries(
  { registries, bundles }: BundleSettings,
  { clock, env, secrets, open, registries: given = [] }: RegistriesParts,
): readonly Registry[] {
  const proxy = proxyVariables(env)
  const fetchesCredentials = bundles.runtime === 'kubernetes'
  const parts = { clock, proxy, secrets, fetchesCredentials, cluster: open }
  const all = [...registries.map(settings => createRegistry(settings, parts)), ...given]
  const twice = findRepeated(all.map(({ name }) => name))
  if (twice !== undefined)
    throw new StartError(
      `There are two registries with the name "${twice}".`,
      'The name is part of the names of the services that a registry offers.',
      'Rename one of them.',
    )
  return all
}
