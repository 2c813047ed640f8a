/** Pushes small images by plain HTTP: a configuration with labels, and no layers. */
import { createHash } from 'node:crypto'

export interface Pushed {
  readonly manifest: string
  readonly config: string
}

type Headers = Readonly<Record<string, string>>

export interface PushOptions {
  readonly tag?: string
  readonly headers?: Headers
  /** A repository that has the same configuration already. */
  readonly from?: string
  readonly docker?: boolean
  readonly entrypoint?: readonly string[] | null
}

export const specText = (name: string, bundleVersion?: string) => `version: 1.0
name: ${name}
${bundleVersion === undefined ? '' : `bundle_version: ${bundleVersion}\n`}description: A bundle for tests
bindable: true
plans:
  - name: default
    description: The only plan
    free: true
    parameters: []
`

export function labelsOf(spec: string, runtime: Readonly<Record<string, string>> = {}): Headers {
  return { 'com.redhat.apb.spec': Buffer.from(spec).toString('base64'), ...runtime }
}

export function sha256(bytes: string | Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

export async function pushImage(
  base: string,
  name: string,
  labels: Headers,
  options: PushOptions = {},
): Promise<Pushed> {
  const { tag = 'latest', headers = {}, from, docker = false, entrypoint = ['/entrypoint.sh'] } = options
  const config = JSON.stringify({
    architecture: 'amd64',
    os: 'linux',
    config: { Labels: labels, ...(entrypoint && { Entrypoint: entrypoint }) },
    rootfs: { type: 'layers', diff_ids: [] },
  })
  await pushBlob(base, name, config, headers, from)
  const vendor = docker
    ? 'application/vnd.docker.distribution.manifest.v2+json'
    : 'application/vnd.oci.image.manifest.v1+json'
  const configType = docker
    ? 'application/vnd.docker.container.image.v1+json'
    : 'application/vnd.oci.image.config.v1+json'
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: vendor,
    config: { mediaType: configType, size: config.length, digest: sha256(config) },
    layers: [],
  })
  await putManifest(base, name, tag, manifest, vendor, headers)
  return { manifest: sha256(manifest), config: sha256(config) }
}

export async function putManifest(
  base: string,
  name: string,
  tag: string,
  body: string,
  type: string,
  headers: Headers = {},
) {
  const reply = await fetch(`${base}/v2/${name}/manifests/${tag}`, {
    method: 'PUT',
    headers: { ...headers, 'content-type': type },
    body,
  })
  if (reply.status !== 201) throw new Error(`PUT manifest of ${name}: ${reply.status} ${await reply.text()}`)
  return sha256(body)
}

async function pushBlob(base: string, name: string, content: string, headers: Headers, from?: string): Promise<void> {
  const digest = sha256(content)
  const query = from === undefined ? '' : `?mount=${digest}&from=${from}`
  const start = await fetch(`${base}/v2/${name}/blobs/uploads/${query}`, { method: 'POST', headers })
  await start.arrayBuffer()
  if (start.status === 201) return
  const location = new URL(start.headers.get('location') ?? '', base)
  location.searchParams.set('digest', digest)
  const reply = await fetch(location, {
    method: 'PUT',
    headers: { ...headers, 'content-type': 'application/octet-stream' },
    body: content,
  })
  if (reply.status !== 201) throw new Error(`PUT blob of ${name}: ${reply.status} ${await reply.text()}`)
}
