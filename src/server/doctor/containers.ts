import { findRegistryType } from '../../registry/types.ts'
import { createEngine } from '../../sandbox/container/engine.ts'
import { messageOf } from '../../shape/thrown.ts'
import type { Config } from '../config.ts'
import { type Finding, longest } from './finding.ts'

/** A container engine answers at the socket. Where no registry has images, it is only good to know. */
export async function checkContainers(socket: string, { bundles, registries }: Config): Promise<readonly Finding[]> {
  const about = 'runtime container'
  const expected = `a container engine answers at ${socket}`
  const hasImages = registries.some(({ type }) => findRegistryType(type)?.offers === 'image')
  try {
    const answer = await createEngine(socket, longest / 2).call('GET', '/version')
    if (answer.status !== 200) throw new Error(`it answered ${answer.status}: ${await answer.problem()}`)
    const { Version } = (await answer.json()) as { readonly Version?: string }
    return [{ state: 'ok', about, expected, found: `version ${Version}` }]
  } catch (error) {
    const remedy =
      'Start Podman (podman system service) or Docker, and check bundles.socket and who may use the socket.'
    const state = hasImages || bundles.runtime === 'container' ? 'wrong' : 'warning'
    return [{ state, about, expected, found: messageOf(error), remedy }]
  }
}
