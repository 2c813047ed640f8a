/** Bundles as images: made by a real engine, and pushed to a real registry that wants a password. */
import { createHash } from 'node:crypto'
import { createEngine } from '../../src/sandbox/container/engine.ts'
import type { Podman } from '../external/podman.ts'
import { labelsOf } from '../registry/push.ts'

export interface Publishing {
  readonly podman: Podman
  /** `host:port/name:tag`. */
  readonly target: string
  readonly spec: string
  readonly script: string
  readonly credentials: string
}

/** Who may read and write, and the line of a registry's htpasswd for it. */
export const reader = {
  name: 'reader',
  password: 's3cret-pass',
  htpasswd: 'reader:$2y$05$abcdefghijklmnopqrstuuV7fpPozvyqJfnY19y0802WTlXUm6Rjy\n',
}

const md5 = (text: string) => createHash('md5').update(text).digest('hex')

/** Of a service and its plan, by the service's full name. */
export function idsOf(service: string, plan: string) {
  return { service_id: md5(service), plan_id: md5(`${service}-${plan}`) }
}

let images = 0

/** Answers the digest under which the registry has it; the engine that made it has forgotten it. */
export async function publish({ podman, target, spec, script, credentials }: Publishing): Promise<string> {
  const tag = `p${++images}`
  const labels = labelsOf(spec, { 'com.redhat.apb.runtime': '2' })
  const changes = [
    `ENTRYPOINT ${JSON.stringify(['/bin/sh', '-c', script, 'entrypoint'])}`,
    ...Object.entries(labels).map(([name, value]) => `LABEL ${name}=${value}`),
  ]
  const query = new URLSearchParams({ container: 'base', repo: 'localhost/published', tag })
  for (const change of changes) query.append('changes', change)
  const made = await createEngine(podman.socket).call('POST', `/commit?${query}`, { body: {} })
  if (made.status !== 201) throw new Error(`no image was made: ${made.status} ${await made.problem()}`)
  made.stream.resume()
  const image = `localhost/published:${tag}`
  const digest = await podman.push(image, target, credentials)
  await podman.forget(image)
  return digest
}
