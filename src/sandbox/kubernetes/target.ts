import { SandboxRefusedError, type SandboxSpec } from '../../sandbox.ts'

/** What is taken away may have been in a namespace that is gone, or going. */
export function isDeletion({ inputs: { action } }: SandboxSpec): boolean {
  return action === 'deprovision' || action === 'unbind'
}

/**
 * The namespace that the bundle is for. The platform names it, and it stands in paths of the API: a text that no namespace can be
 * called would lead elsewhere than where the user's right was asked for. Nothing was ever made there, so a deletion is for none.
 */
export function targetOf(spec: SandboxSpec): string | undefined {
  const namespace = spec.origin?.namespace
  if (namespace === undefined || /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(namespace)) return namespace
  if (isDeletion(spec)) return undefined
  const named = JSON.stringify(namespace)
  throw new SandboxRefusedError(`no namespace can be called ${named}; have the platform name the one that it is for`)
}
