import type { Clock } from '../clock.ts'
import type { ProgramKind, Runtime } from '../sandbox.ts'

interface RuntimeType {
  readonly name: string
  readonly runs: ProgramKind
  /** Below the folder of all bundles. Short: there are sockets below it, whose paths must not be long. */
  readonly folder: string
  /** Loads the runtime, which nobody pays for who does not use it. */
  open(options: OpenOptions): Promise<Runtime>
}

interface OpenOptions {
  readonly folder: string
  readonly user?: { readonly uid: number; readonly gid: number }
  readonly clock: Clock
  /** Of the container engine. */
  readonly socket: string
}

/** The one table of runtimes, in the order in which they are asked whether they run a program. The settings go by it. */
export const runtimeTypes = [
  {
    name: 'process',
    runs: 'folder',
    folder: 'p',
    async open(options) {
      const { createProcessRuntime } = await import('./process/process-runtime.ts')
      return createProcessRuntime(options)
    },
  },
  {
    name: 'container',
    runs: 'image',
    folder: 'c',
    async open(options) {
      const { createContainerRuntime } = await import('./container/container-runtime.ts')
      return createContainerRuntime(options)
    },
  },
] as const satisfies readonly RuntimeType[]
