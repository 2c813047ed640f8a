import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BundleSpec } from '../../../bundle/spec.ts'
import type { Revision } from '../../../domain/revision.ts'
import type { BundleParts } from '../../../driver/bundle/parts.ts'
import { sensitiveNamesOf } from '../../../driver/bundle/secrets.ts'
import { kindsOf, manifestActions, toManifestService } from '../../../driver/manifests/manifests-driver.ts'
import type { ManifestParts } from '../../../driver/manifests/parts.ts'
import { TerminalError } from '../../../engine/errors.ts'
import { openClusterLater } from '../../../kubernetes/open-later.ts'
import { silent } from '../../../observer.ts'
import type { JsonObject } from '../../../protocol/json.ts'
import type { Offering } from '../../../protocol/offering.ts'
import { hashFolder } from '../../../registry/hash-folder.ts'
import { createRedactor } from '../../../sensitive/redact.ts'
import { createBundleFolders } from '../folders.ts'
import { createRuntimes } from '../runtimes.ts'
import { createProgramFor, proxyVariables, readHelpers } from '../sandbox-inputs.ts'
import { type DevTask, performDev, performerOf } from './perform.ts'

export { leftByRuns as runFileName } from '../../../registry/hash-folder.ts'

export interface DevBundle {
  readonly spec: BundleSpec
  readonly offering: Offering
  /** The text of the spec. */
  readonly source: string
  readonly folder: string
  /** Run in place of the folder. */
  readonly image?: string
}

export interface DevSettings {
  readonly network: boolean
  readonly timeout: number
  /** The operator's. */
  readonly secrets: JsonObject
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * One action of a bundle, with the driver and the runtimes of a broker and without its ledger. Everything that it needs on
 * this machine is in a folder of its own, and gone when it has ended.
 */
export async function runDevAction(bundle: DevBundle, settings: DevSettings, task: DevTask) {
  if (bundle.spec.manifests !== undefined) return runDevManifests(bundle, settings, task)
  const root = await realpath(await mkdtemp(join(tmpdir(), 'purser-')))
  const { clock } = task
  const { network, timeout, secrets, env } = settings
  try {
    // Where this process is root, the bundle runs as another user, who has to reach its folder.
    await chmod(root, 0o711)
    const runtime = bundle.image === undefined ? 'process' : 'container'
    const running = await createRuntimes({ bundles: { runtime, folder: root, exposeFiles: true } }, { clock, env })
    const programFor = createProgramFor({ pull: 'if-missing', folders: createBundleFolders(root), registries: [] })
    try {
      const revision = await toRevision(bundle, task.signal)
      const parts: BundleParts = {
        ...running,
        programFor,
        clock,
        storeNow: () => clock.now(),
        // Processes can be counted on Linux only.
        limits: { time: timeout, output: 16 * 1024 ** 2, processes: process.platform === 'linux' ? 512 : undefined },
        network: network ? 'allowed' : 'none',
        env: network ? proxyVariables(env) : {},
        helpers: await readHelpers(),
        secretsFor: async () => [{ name: 'secrets', entries: secrets }],
        keepOnError: false,
        brokerLabel: 'purser bundle run',
        observer: silent,
      }
      const sensitive = sensitiveNamesOf(bundle.spec)
      return await performDev(performerOf({ parts, revision, spec: bundle.spec, sensitive }), task)
    } finally {
      for (const used of running.runtimes) for (const { name } of await used.list()) await used.remove(name)
    }
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

/** What an author's own kubeconfig allows is allowed. Without a namespace of a platform, it is that of the context. */
async function runDevManifests(bundle: DevBundle, { env, secrets }: DevSettings, task: DevTask) {
  const { clock, instance } = task
  const open = openClusterLater({}, { clock, env })
  const { namespace } = (await open()).cluster
  const parts: ManifestParts = {
    open,
    limits: {
      namespaces: ['*'],
      kinds: ['*', ...kindsOf(bundle.spec).map(({ apiVersion, kind }) => `${apiVersion}/${kind}`)],
    },
    createRedactor,
    storeNow: () => clock.now(),
    secretsFor: async () => [{ name: 'secrets', entries: secrets }],
    brokerId: async () => 'purser bundle run',
    kinds: () => [],
  }
  const service = toManifestService(parts, await toRevision(bundle, task.signal), bundle.spec)
  const context = { namespace, ...instance.context }
  const test = () => Promise.reject(new TerminalError('Manifests have no test: provision, bind and deprovision them.'))
  return performDev({ actions: manifestActions(service), test }, { ...task, instance: { ...instance, context } })
}

async function toRevision(
  { spec, offering, source, folder, image }: DevBundle,
  signal: AbortSignal,
): Promise<Revision> {
  const real = await realpath(folder)
  return {
    id: 'dev',
    serviceId: offering.id,
    fullName: offering.name,
    registry: 'local',
    foundAs: spec.name,
    image: image ?? real,
    tag: '',
    digest: image === undefined ? (await hashFolder(real, [], signal)).digest : '',
    source,
    runtime: 2,
    bundleVersion: spec.bundleVersion,
    offering,
    firstSeenAt: 0,
  }
}
