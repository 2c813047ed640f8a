import { existsSync } from 'node:fs'
import { join } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

/** Where a container engine is looked for, in this order. A DOCKER_HOST that is not a socket of this machine is ignored. */
export function socketCandidates(env: Environment): readonly string[] {
  const host = /^unix:\/\/(\/.+)$/.exec(env.DOCKER_HOST ?? '')?.[1]
  const own = env.XDG_RUNTIME_DIR
  return [
    ...(host === undefined ? [] : [host]),
    '/run/podman/podman.sock',
    ...(own === undefined || own === '' ? [] : [join(own, 'podman/podman.sock')]),
    '/var/run/docker.sock',
  ]
}

/** An engine may be started after the broker: without any, the first place is tried again and again. */
export function findSocket(env: Environment, exists: (path: string) => boolean = existsSync): string {
  const candidates = socketCandidates(env)
  return candidates.find(exists) ?? candidates[0] ?? ''
}
