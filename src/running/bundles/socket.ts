import { existsSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The socket of a container engine, where one is looked for. A DOCKER_HOST that is not a socket of this machine is ignored.
 * An engine may be started after the broker: without any, the first place is tried again and again.
 */
export function findSocket(
  env: Readonly<Record<string, string | undefined>>,
  exists: (path: string) => boolean = existsSync,
): string {
  const candidates = [
    /^unix:\/\/(\/.+)$/.exec(env.DOCKER_HOST ?? '')?.[1],
    '/run/podman/podman.sock',
    env.XDG_RUNTIME_DIR && join(env.XDG_RUNTIME_DIR, 'podman/podman.sock'),
    '/var/run/docker.sock',
  ].flatMap(path => path || [])
  return candidates.find(exists) ?? candidates[0] ?? ''
}
