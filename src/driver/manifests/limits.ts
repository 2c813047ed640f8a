import { TerminalError } from '../../engine/errors.ts'
import type { Kind } from '../../kubernetes/kinds.ts'

/** What templates may reach. What is not allowed here is refused before the cluster hears of it. */
export interface ManifestLimits {
  /** Names, with `*` for any part of one; `context` is the namespace that the platform names. */
  readonly namespaces: readonly string[]
  /** `v1/ConfigMap`, `apps/v1/Deployment`; `group/version/*` is every kind of it that lives in namespaces. */
  readonly kinds: readonly string[]
}

export interface Target {
  readonly kind: Kind
  readonly namespace: string | undefined
  readonly name: string
  /** What the platform names, if it names one. */
  readonly ofContext: string | undefined
}

/** Throws a TerminalError that says which setting would have to allow it. */
export function checkAllowed(limits: ManifestLimits, target: Target): void {
  const { kind, name } = target
  const full = `${kind.apiVersion}/${kind.kind}`
  const all = `${kind.apiVersion}/*`
  if (!limits.kinds.some(allowed => allowed === full || (kind.namespaced && (allowed === all || allowed === '*'))))
    throw new TerminalError(
      `${kind.kind} ${name}: objects of the kind ${full} may not be used here. An operator can allow them in bundles.manifests.kinds.`,
    )
  // A Namespace is as far away as what is in it.
  const namespace = isNamespace(kind) ? name : target.namespace
  if (namespace === undefined || !(kind.namespaced || isNamespace(kind))) return
  if (limits.namespaces.some(allowed => isMatch(allowed, namespace, target.ofContext))) return
  throw new TerminalError(
    `${kind.kind} ${name}: the namespace "${namespace}" may not be used here. An operator can allow it in bundles.manifests.namespaces.`,
  )
}

function isNamespace({ apiVersion, kind }: Kind): boolean {
  return apiVersion === 'v1' && kind === 'Namespace'
}

function isMatch(allowed: string, namespace: string, ofContext: string | undefined): boolean {
  if (allowed === 'context') return ofContext !== undefined && namespace === ofContext
  const parts = allowed.split('*').map(part => part.replaceAll(/[^a-z0-9-]/g, ''))
  return new RegExp(`^${parts.join('[a-z0-9-]*')}$`).test(namespace)
}
