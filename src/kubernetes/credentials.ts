/** Where the cluster is and who we are there, as every tool of Kubernetes finds it: kubeconfig files, or the pod's own account. */
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { KubeConfig } from '@kubernetes/client-node'
import { messageOf } from '../shape/thrown.ts'
import type { ClusterSettings } from './cluster-settings.ts'
import { ClusterSettingsError } from './errors.ts'

const account = '/var/run/secrets/kubernetes.io/serviceaccount'

/** The library is large, so nobody loads it who has no cluster. */
export async function loadLibrary(): Promise<typeof import('@kubernetes/client-node')> {
  try {
    return await import('@kubernetes/client-node')
  } catch (error) {
    throw new ClusterSettingsError(
      'Kubernetes needs the npm package @kubernetes/client-node, which is not installed. Run "npm install @kubernetes/client-node@1".',
      { cause: error },
    )
  }
}

export async function readCredentials(
  settings: ClusterSettings,
  env: Readonly<Record<string, string | undefined>>,
): Promise<KubeConfig> {
  const { KubeConfig } = await loadLibrary()
  const config = new KubeConfig()
  const files = filesOf(settings, env)
  if (files !== undefined) readFiles(files, config, () => new KubeConfig())
  else if (env.KUBERNETES_SERVICE_HOST && existsSync(`${account}/token`)) config.loadFromCluster()
  else
    throw new ClusterSettingsError(
      'No Kubernetes cluster is named. Set KUBECONFIG to a kubeconfig file, or name one in bundles.kubernetes.kubeconfig; in a pod, give it a service account.',
    )
  const { context } = settings
  const known = config.getContexts().map(({ name }) => name)
  if (context !== undefined) {
    if (!known.includes(context))
      throw new ClusterSettingsError(
        `The kubeconfig has no context "${context}". It has: ${known.join(', ') || 'none'}.`,
      )
    config.setCurrentContext(context)
  }
  if (!config.getCurrentCluster())
    throw new ClusterSettingsError(
      `The kubeconfig names no cluster to use: its current context is "${config.getCurrentContext() ?? ''}", and it has: ${known.join(', ') || 'none'}. Name one of them in bundles.kubernetes.context.`,
    )
  return config
}

/** The namespace that we are at home in: of the context, or of the pod. */
export function homeNamespace(config: KubeConfig): string {
  const named = config.getContextObject(config.getCurrentContext())?.namespace
  if (named) return named
  const file = `${account}/namespace`
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : 'default'
}

/** Undefined where there are none, and the pod's own account may be used. */
function filesOf(
  { kubeconfig }: ClusterSettings,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] | undefined {
  if (kubeconfig !== undefined) return [kubeconfig]
  const named = (env.KUBECONFIG ?? '').split(delimiter).filter(path => path !== '')
  if (named.length > 0) return named
  const usual = join(env.HOME || homedir(), '.kube', 'config')
  return !env.KUBERNETES_SERVICE_HOST && existsSync(usual) ? [usual] : undefined
}

function readFiles(files: readonly string[], config: KubeConfig, create: () => KubeConfig): void {
  for (const [index, file] of files.entries()) {
    const part = index === 0 ? config : create()
    try {
      part.loadFromFile(file)
    } catch (error) {
      throw new ClusterSettingsError(
        `The kubeconfig ${file} cannot be read: ${firstLine(messageOf(error))}. Correct it, or its path.`,
      )
    }
    if (index > 0) config.mergeConfig(part, true)
  }
}

/** What follows may show the file, which has secrets. */
function firstLine(text: string): string {
  return text.split('\n')[0] ?? ''
}
