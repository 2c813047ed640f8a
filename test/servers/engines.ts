import { startDocker, whyNoDocker } from './docker.ts'
import { startPodman, whyNoPodman } from './podman.ts'

/** The container engines that the runtime is tested on. */
export const engines = [
  { engineName: 'Podman', reason: whyNoPodman(), start: () => startPodman() },
  { engineName: 'Docker', reason: whyNoDocker(), start: () => startDocker() },
]
