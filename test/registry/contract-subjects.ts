/** The places that the registry contract runs on: folders, and servers of a few lines each. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Registry } from '../../src/registry.ts'
import type { RegistrySubject } from '../../src/testing/registry-contract.ts'
import { startFront } from './front.ts'
import { labelsOf, sha256, specText } from './push.ts'
import { registryFor } from './settings-for.ts'

type Bundles = Readonly<Record<string, number>>
type Entry = Readonly<Record<string, unknown>>

const secret = 's3cret-token-1'
const textOf = (name: string, version: number) => `${specText(name)}bundleVersion: 1.0.${version}\n`
const listOf = (only?: RegExp): Entry => (only === undefined ? {} : { white_list: [only.source] })

export function createDirectorySubject(): RegistrySubject {
  const root = mkdtempSync(join(tmpdir(), 'purser-contract-'))
  const path = join(root, 'bundles')
  mkdirSync(path)
  return {
    secrets: [],
    async put(bundles) {
      rmSync(path, { recursive: true })
      mkdirSync(path)
      for (const [name, version] of Object.entries(bundles)) {
        mkdirSync(join(path, name))
        writeFileSync(join(path, name, 'bundle.yml'), textOf(name, version))
      }
    },
    open: only => registryFor({ type: 'directory', path, ...listOf(only) }),
    async spoil(name) {
      symlinkSync('/etc', join(path, name, 'out'))
    },
    async turn(state) {
      if (state === 'back') renameSync(`${path}-away`, path)
      else renameSync(path, `${path}-away`)
      if (state === 'garbage') writeFileSync(path, 'not a folder')
    },
    async destroy() {
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** What a server answers to a path: a status, or a body. */
type Serve = (path: string, bundles: Bundles) => number | string | Buffer | undefined

async function createServerSubject(
  serve: Serve,
  open: (url: string, lists: Entry) => Registry,
  oneByOne = true,
): Promise<RegistrySubject> {
  let bundles: Bundles = {}
  let spoilt = ''
  let state: 'gone' | 'garbage' | 'back' | 'stalled' = 'back'
  const send = (outgoing: ServerResponse, path: string) => {
    if (state === 'gone') return outgoing.destroy()
    if (state === 'garbage') return outgoing.writeHead(200).end(`<html>${secret}</html>`)
    const reply = spoilt !== '' && path.includes(spoilt) ? 500 : (serve(path, bundles) ?? 404)
    const body = typeof reply === 'number' ? '' : reply
    return outgoing.writeHead(typeof reply === 'number' ? reply : 200).end(body)
  }
  const front = await startFront(0, ({ url = '' }, outgoing) => {
    if (state !== 'stalled') send(outgoing, decodeURIComponent(url))
    return true
  })
  return {
    secrets: [secret],
    async put(next) {
      bundles = next
    },
    open: only => open(front.url, listOf(only)),
    ...(oneByOne && {
      async spoil(name: string) {
        spoilt = name
      },
    }),
    async turn(next) {
      state = next
    },
    async stall() {
      state = 'stalled'
    },
    destroy: () => front.stop(),
  }
}

/** The distribution API, as far as bundles need it: repositories below `org/`. */
const serveOci: Serve = (path, bundles) => {
  if (path === '/v2/') return '{}'
  if (path.startsWith('/v2/_catalog'))
    return JSON.stringify({ repositories: Object.keys(bundles).map(name => `org/${name}`) })
  const [, name = '', kind = ''] = /^\/v2\/org\/([^/]+)\/(manifests|blobs)\//.exec(path) ?? []
  const version = bundles[name]
  if (version === undefined) return undefined
  const config = JSON.stringify({ config: { Labels: labelsOf(textOf(name, version)) } })
  if (kind === 'blobs') return config
  const mediaType = 'application/vnd.oci.image.manifest.v1+json'
  return JSON.stringify({ schemaVersion: 2, mediaType, config: { digest: sha256(config) }, layers: [] })
}

export const createOciSubject = () =>
  createServerSubject(serveOci, (url, lists) =>
    registryFor({ type: 'oci', url, user: 'u', pass: secret, ...named(lists) }),
  )

/** Its names have the organisation before them. */
const named = (lists: Entry): Entry =>
  Array.isArray(lists.white_list)
    ? { white_list: lists.white_list.map(entry => String(entry).replace('^', '^org/')) }
    : lists

export const createDockerHubSubject = () =>
  createServerSubject(
    (path, bundles) => {
      if (path === '/v2/users/login/') return JSON.stringify({ token: secret })
      if (path.startsWith('/v2/repositories/org/'))
        return JSON.stringify({ next: null, results: Object.keys(bundles).map(name => ({ name })) })
      return serveOci(path, bundles)
    },
    (url, lists) =>
      registryFor(
        { type: 'dockerhub', org: 'org', user: 'u', pass: secret, ...named(lists) },
        { dockerHub: { hub: url, registry: url } },
      ),
  )

export const createQuaySubject = () =>
  createServerSubject(
    (path, bundles) => {
      if (path.startsWith('/api/v1/repository?'))
        return JSON.stringify({ repositories: Object.keys(bundles).map(name => ({ name })) })
      const [, name = '', rest = ''] = /^\/api\/v1\/repository\/org\/([^/]+)\/(.*)$/.exec(path) ?? []
      const version = bundles[name]
      if (version === undefined) return undefined
      const text = textOf(name, version)
      if (rest.startsWith('tag/')) return JSON.stringify({ tags: [{ name: 'latest', manifest_digest: sha256(text) }] })
      return JSON.stringify({ labels: Object.entries(labelsOf(text)).map(([key, value]) => ({ key, value })) })
    },
    (url, lists) => registryFor({ type: 'quay', url, org: 'org', token: secret, ...lists }),
  )

export const createHttpSubject = () =>
  createServerSubject(
    (_, bundles) =>
      JSON.stringify(Object.entries(bundles).map(([name, version]) => ({ name, image: `images/${name}:${version}` }))),
    (url, lists) => registryFor({ type: 'http', url: `${url}/specs`, token: secret, ...lists }),
    false,
  )

export const createHelmSubject = () =>
  createServerSubject(
    (path, bundles) => {
      const [, name = ''] = /^\/(\w+)-/.exec(path) ?? []
      if (path !== '/index.yaml') return tarOf(`${name}/values.yaml`, `replicas: ${bundles[name]}\n`)
      const charts = Object.entries(bundles).map(([chart, version]) => {
        const archive = tarOf(`${chart}/values.yaml`, `replicas: ${version}\n`)
        const release = { version: `1.0.${version}`, urls: [`${chart}-1.tgz`], digest: sha256(archive).slice(7) }
        return [chart, [release]]
      })
      return JSON.stringify({ apiVersion: 'v1', entries: Object.fromEntries(charts) })
    },
    (url, lists) => registryFor({ type: 'helm', url, runner: 'runners.example/helm:v3', ...lists }),
  )

/** An archive of one file. */
function tarOf(name: string, content: string): Buffer {
  const header = Buffer.alloc(512)
  header.write(name, 0)
  header.write('0000644\0', 100)
  header.write(`${Buffer.byteLength(content).toString(8).padStart(11, '0')}\0`, 124)
  header.write('        0', 148)
  header.write('ustar', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  const body = Buffer.alloc(Math.ceil(Buffer.byteLength(content) / 512) * 512)
  body.write(content)
  return gzipSync(Buffer.concat([header, body, Buffer.alloc(1024)]))
}
