import { decodeSpec } from '../../bundle/encoded-spec.ts'
import { parseBundleSpec } from '../../bundle/spec.ts'
import { failure, wrongUsage } from '../cli-error.ts'
import type { CliIo } from '../io.ts'
import { renderResult } from '../render/fields.ts'
import { type EngineName, findEngine, type ImageEngine, readWritten } from './image-engine.ts'
import { type ImageName, parseImageName } from './image-name.ts'

export interface PushOptions {
  readonly image: string
  readonly engine?: EngineName
  readonly insecure?: boolean
  readonly output: 'json' | 'text'
}

/** Pushes an image that was built before, and says how a broker offers it. */
export async function pushBundle(io: CliIo, { image, output, ...options }: PushOptions): Promise<void> {
  const { insecure = false } = options
  const name = parseImageName(image)
  const { host } = name
  if (host === undefined)
    throw wrongUsage({
      what: `"${image}" names no registry`,
      why: 'the first part of the name says where to push it',
      next: 'Write it as in registry.example.com/team/greeter:1.0, or docker.io/team/greeter:1.0.',
    })
  const engine = await findEngine(io, options.engine)
  const spec = await readSpecLabel(engine, image)
  io.stderr.write(`pushing ${image} with ${engine.name}\n`)
  const digest = await push(engine, image, insecure)
  const result = { image, digest, engine: engine.name, bundle: spec.name }
  const registry = registryOf({ ...name, host }, insecure)
  if (output === 'json') io.stdout.write(renderResult({ ...result, registry }, output))
  else
    io.stdout.write(
      `${renderResult(result, output)}\nA broker offers it with this in its configuration:\n\n${renderRegistry(registry)}`,
    )
}

/** A push of something else would succeed, and no broker would ever see a bundle in it. */
async function readSpecLabel(engine: ImageEngine, image: string) {
  const next = `Build it first: purser bundle build <folder> --tag ${image}.`
  const buildah = engine.name === 'buildah'
  const labels = buildah ? '.OCIv1.Config.Labels' : '.Config.Labels'
  const inspect = buildah ? ['inspect', '--type', 'image'] : ['image', 'inspect']
  const args = [...inspect, '--format', `{{index ${labels} "com.redhat.apb.spec"}}`, image]
  const found = await engine.run({ args, what: `${engine.name} has no image ${image}`, next, quiet: true })
  const decoded = decodeSpec(found)
  const { spec } = parseBundleSpec('source' in decoded ? decoded.source : '', 'spec')
  if (spec !== undefined) return spec
  throw failure({
    what: `${image} is not a bundle`,
    why: 'its label com.redhat.apb.spec has no spec that can be used',
    next,
  })
}

async function push(engine: ImageEngine, image: string, insecure: boolean): Promise<string | undefined> {
  const task = {
    what: `${engine.name} could not push ${image}`,
    next: `What it printed is above. Log in with ${engine.name} login; a registry without TLS needs --insecure.`,
  }
  if (engine.name !== 'docker') {
    const tls = insecure ? ['--tls-verify=false'] : []
    const to = engine.name === 'buildah' ? [`docker://${image}`] : []
    return readWritten(file => engine.run({ ...task, args: ['push', '--digestfile', file, ...tls, image, ...to] }))
  }
  const next = `${task.next} Docker's daemon has to know of it: "insecure-registries" in daemon.json.`
  const told = await engine.run({ ...task, args: ['push', image], next: insecure ? next : task.next })
  return /digest: (\S+)/.exec(told)?.[1]
}

type RegistrySection = Readonly<Record<string, string | readonly string[]>>

/** An entry of the section `registries` that lists this image and nothing else. */
function registryOf({ host, repository, tag }: ImageName & { readonly host: string }, insecure: boolean) {
  const [team = ''] = repository.split('/')
  const name = repository === team ? 'mine' : team.replaceAll(/[._]+/g, '-')
  const where: RegistrySection =
    host === 'docker.io' ? { type: 'dockerhub' } : { type: 'oci', url: `${insecure ? 'http' : 'https'}://${host}` }
  const whole = `^${repository.replaceAll('.', '\\.')}$`
  return { name, ...where, images: [repository], tag, white_list: [whole] } satisfies RegistrySection
}

function renderRegistry(registry: RegistrySection): string {
  const lines = Object.entries(registry).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
  return `registries:\n  - ${lines.join('    ')}`
}
