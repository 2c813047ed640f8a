import type { ProgramKind, Runtime } from '../sandbox.ts'
import type { ContainerRuntimeOptions } from './container/container-runtime.ts'
import type { ProcessRuntimeOptions } from './process/process-runtime.ts'

type RuntimeOptions = ContainerRuntimeOptions & Pick<ProcessRuntimeOptions, 'hidden' | 'exposeFiles'>

interface RuntimeType {
  readonly name: string
  readonly runs: ProgramKind
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
    folder: 'p',
    open: async options => (await import('./process/process-runtime.ts')).createProcessRuntime(options),
  },
  {
    name: 'container',
    runs: 'image',
    folder: 'c',
    open: async options => (await import('./container/container-runtime.ts')).createContainerRuntime(options),
  },
] as const satisfies readonly RuntimeType[]
