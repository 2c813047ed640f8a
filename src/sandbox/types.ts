import type { ClusterSettings } from '../kubernetes/cluster-settings.ts'
import type { ProgramKind, Runtime } from '../sandbox.ts'
import type { ContainerRuntimeOptions } from './container/container-runtime.ts'
import type { KubernetesSettings } from './kubernetes/settings.ts'
import type { ProcessRuntimeOptions } from './process/process-runtime.ts'

export interface RuntimeOptions extends ContainerRuntimeOptions, Pick<ProcessRuntimeOptions, 'hidden' | 'exposeFiles'> {
  readonly kubernetes?: (KubernetesSettings & ClusterSettings) | undefined
  readonly env: Readonly<Record<string, string | undefined>>
}

interface RuntimeType {
  readonly name: string
  readonly runs: ProgramKind
  /** Whether `auto` stands for it too. */
  readonly isDefault: boolean
  /** Below the folder of all bundles. Short: there are sockets below it, whose paths must not be long. */
  readonly folder: string
  /** Loads the runtime, which nobody pays for who does not use it. */
  open(options: RuntimeOptions): Promise<Runtime>
}

/** The one table of runtimes, in the order in which they are asked whether they run a program. The settings go by it. */
export const runtimeTypes = [
  {
    name: 'process',
    runs: 'folder',
    isDefault: true,
    folder: 'p',
    open: async options => (await import('./process/process-runtime.ts')).createProcessRuntime(options),
  },
  {
    name: 'container',
    runs: 'image',
    isDefault: true,
    folder: 'c',
    open: async options => (await import('./container/container-runtime.ts')).createContainerRuntime(options),
  },
  {
    name: 'kubernetes',
    runs: 'image',
    isDefault: false,
    folder: 'k',
    open: async options => (await import('./kubernetes/open.ts')).openKubernetesRuntime(options),
  },
] as const satisfies readonly RuntimeType[]
