import type { ContainerEngine } from './container-engine.ts'
import { startDocker, whyNoDocker } from './docker.ts'
import { startPodman, whyNoPodman } from './podman.ts'

export interface TestedEngine {
  readonly engineName: string
  /** Why there is none here. */
  readonly reason: string | undefined
  start(): Promise<ContainerEngine>
}

export const podmanEngine: TestedEngine = {
  engineName: 'Podman',
  reason: whyNoPodman(),
  start: () => startPodman(),
}

export const dockerEngine: TestedEngine = {
  engineName: 'Docker',
  reason: whyNoDocker(),
  start: () => startDocker(),
}

/** The container engines that the runtime is tested on. */
export const engines = [podmanEngine, dockerEngine]
