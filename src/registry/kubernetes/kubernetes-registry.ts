import { listAll } from '../../kubernetes/list.ts'
import type { KubernetesObject } from '../../kubernetes/objects.ts'
import type { OpenCluster } from '../../kubernetes/open-later.ts'
import { watchObjects } from '../../kubernetes/watch.ts'
import type { RegistryAnswer } from '../../registry.ts'
import { text } from '../../shape/fields.ts'
import { fallback, map, optional, type Read } from '../../shape/shape.ts'
import { toAnswer } from '../answer.ts'
import { RegistryError } from '../registry-error.ts'
import type { Asking, RegistryParts, RegistryType, Watching } from '../registry-type.ts'
import { needsNoCredentials, registryShape } from '../settings.ts'
import { loadMapping, mappedKeys } from './mapping.ts'

const shape = registryShape(
  {
    apiVersion: text({
      rule: 'group and version, such as example.com/v1',
      allows: /^([a-z0-9.-]+\/)?v\d+((alpha|beta)\d+)?$/,
      doc: 'of the custom resources that become services',
    }),
    kind: text({ rule: 'a kind, such as Application', allows: /^[A-Z][A-Za-z0-9]*$/, doc: 'of the custom resources' }),
    namespace: optional(text({ rule: 'a namespace', doc: 'the only one that they are looked for in; else all' })),
    labels: optional(text({ rule: 'a label selector, such as team=a', doc: 'only those that have these labels' })),
    bundle: text({
      kind: 'folder',
      rule: 'the path of a bundle.yml, or of its folder',
      doc: 'the spec that each of them becomes; see [custom resources](#custom-resources)',
    }),
    map: fallback(
      map(text({ rule: 'an expression' }), {
        doc: `what of the spec comes from the resource: ${mappedKeys.join(', ')}; see [custom resources](#custom-resources)`,
      }),
      {},
    ),
  },
  [
    needsNoCredentials,
    ({ map: mapped }) => {
      const unknown = Object.keys(mapped ?? {}).find(key => !mappedKeys.includes(key))
      return (
        unknown !== undefined && { path: ['map', unknown], error: `is none of ${mappedKeys.join(', ')}; correct it` }
      )
    },
  ],
)

type Settings = Read<typeof shape>

/** Custom resources of the cluster: each becomes a service. */
export const kubernetes = { name: 'kubernetes', shape, offers: 'folder', list, watch } satisfies RegistryType

async function list(settings: Settings, { cluster: open, passes, signal }: Asking): Promise<RegistryAnswer> {
  const mapping = await loadMapping(settings)
  const { cluster, path } = await find(settings, open, signal)
  const { items } = await listAll<KubernetesObject>(cluster, path, { labels: settings.labels, signal })
  const alive = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const named = alive.map(item => ({ item, name: nameOf(item, settings) })).filter(({ name }) => passes(name))
  return toAnswer(named.map(({ item, name }) => mapping(item, name)))
}

function nameOf({ metadata: { namespace, name = '' } }: KubernetesObject, settings: Settings): string {
  return namespace === undefined || settings.namespace !== undefined ? name : `${namespace}/${name}`
}

async function find(settings: Settings, open: RegistryParts['cluster'], signal: AbortSignal) {
  if (open === undefined) throw new RegistryError('there is no cluster to ask; see bundles.kubernetes')
  const { cluster, findKind } = (await open()) as OpenCluster
  const kind = await findKind(settings, signal)
  if (kind === undefined)
    throw new RegistryError(
      `the cluster does not know the kind ${settings.apiVersion}/${settings.kind}; install it, or correct the entry`,
    )
  return { cluster, path: kind.path(settings.namespace) }
}

async function watch(
  settings: Settings,
  { cluster: open }: Pick<RegistryParts, 'cluster'>,
  { onChange, signal }: Watching,
): Promise<void> {
  const { cluster, path } = await find(settings, open, signal)
  /** How resources were, by their uids. */
  const seen = new Map<string, string>()
  const note = (resource: Resource) => {
    const { uid = '' } = resource.metadata
    const fingerprint = fingerprintOf(resource)
    if (seen.get(uid) !== fingerprint) onChange()
    seen.set(uid, fingerprint)
  }
  const forget = (uid = '') => {
    seen.delete(uid)
    onChange()
  }
  await watchObjects<Resource>(
    cluster,
    { path, labels: settings.labels, signal },
    {
      onList(items) {
        const there = new Set(items.map(({ metadata }) => metadata.uid))
        // What is gone since the last list went while nobody looked.
        for (const uid of seen.keys()) if (!there.has(uid)) forget(uid)
        items.forEach(note)
      },
      onChange: note,
      onGone: ({ metadata }) => forget(metadata.uid),
    },
  )
}

type Resource = KubernetesObject & { readonly metadata: { readonly generation?: number } }

/**
 * What only its status says does not become part of a spec, unless somebody maps it; a sync on schedule sees that. A kind that counts
 * no generations has no status either, as a rule.
 */
function fingerprintOf({ metadata }: Resource): string {
  const { generation, resourceVersion, labels, annotations, deletionTimestamp } = metadata
  return JSON.stringify([generation ?? resourceVersion, labels, annotations, deletionTimestamp])
}
