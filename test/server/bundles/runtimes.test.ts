import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/clock.ts'
import { createBundleFolders } from '../../../src/server/bundles/folders.ts'
import { createRegistries } from '../../../src/server/bundles/registries.ts'
import { createRuntimeFor } from '../../../src/server/bundles/runtime-for.ts'
import { createRuntimes } from '../../../src/server/bundles/runtimes.ts'
import { createSecretFolder } from '../../../src/server/bundles/secret-folder.ts'
import { findSocket } from '../../../src/server/bundles/socket.ts'
import { loadConfig } from '../../../src/server/config.ts'
import type { Revision } from '../../../src/store.ts'

let cwd = ''
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'purser-runtimes-'))
  chmodSync(cwd, 0o755)
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

const root = process.getuid?.() === 0
const parts = { clock: systemClock, env: {} }

function load(text: string) {
  writeFileSync(join(cwd, 'purser.yaml'), text)
  return loadConfig({ env: {}, flags: {}, cwd, terminal: false })
}

function revision(image: string, registry: string): Revision {
  const offering = { id: 'id', name: 'name', description: '', bindable: false, plans: [] }
  const rest = { foundAs: 'a', tag: '', digest: 'sha256:00', source: '', runtime: 2, offering, firstSeenAt: 0 } as const
  return { id: 'r', serviceId: 's', fullName: `${registry}-a`, registry, image, ...rest }
}

describe('createRegistries', () => {
  it('makes them in the order of the configuration', async () => {
    mkdirSync(join(cwd, 'bundles/db'), { recursive: true })
    writeFileSync(join(cwd, 'bundles/db/bundle.yml'), 'version: 1.0\n')
    const config = await load(`registries:
  - { name: hub, type: dockerhub, org: o, white_list: [a], fail_on_error: true }
  - { name: local, path: bundles, white_list: [".*"] }
`)
    const registries = createRegistries(config, { ...parts, secrets: createSecretFolder(cwd) })
    expect(registries.map(({ name, type, failOnError }) => ({ name, type, failOnError }))).toEqual([
      { name: 'hub', type: 'dockerhub', failOnError: true },
      { name: 'local', type: 'directory', failOnError: false },
    ])
    const answer = await registries[1]?.list(new AbortController().signal)
    expect(answer).toMatchObject({ kind: 'complete', found: [{ name: 'db', image: join(cwd, 'bundles/db') }] })
  })
})

describe('createRuntimes and createRuntimeFor', () => {
  const registries = `registries:
  - { name: local, path: bundles, white_list: [a] }
  - { name: hub, type: oci, url: "https://r.example.com", white_list: [a], user: me, pass: secret-1 }
`

  it('run folders as processes, and images as containers with the credentials of their registry', async () => {
    const config = await load(`${registries}bundles: { socket: engine.sock, pull: always }\n`)
    const runtimes = await createRuntimes(config, parts)
    const { runtimeFor, programFor, runtimes: all } = createRuntimeFor(config, runtimes, createBundleFolders(cwd))
    const image = revision('r.example.com/a@sha256:00', 'hub')
    expect(runtimeFor(image).runtime).toBe(runtimes.container)
    expect(await programFor(image)).toEqual({
      kind: 'image',
      image: 'r.example.com/a@sha256:00',
      pull: 'always',
      credentials: { username: 'me', password: 'secret-1' },
    })
    expect(await programFor(revision('r.example.com/a@sha256:00', 'gone'))).not.toHaveProperty('credentials')
    mkdirSync(join(cwd, 'a'))
    const folder = revision(join(cwd, 'a'), 'local')
    expect(runtimeFor(folder).runtime).toBe(runtimes.process)
    expect(await programFor(folder)).toEqual({ kind: 'folder', folder: join(cwd, 'a') })
    const source = `version: 1.0
name: a
description: x
bindable: false
async: optional
entrypoint: bin/run
plans: [{ name: p, description: x, free: true }]
`
    expect(await programFor({ ...image, source })).toMatchObject({ kind: 'image', entrypoint: 'bin/run' })
    expect(all.map(({ runtime, host }) => `${runtime.type} ${host}`)).toEqual([
      `process ${runtimes.host}`,
      `container ${runtimes.host}`,
    ])
    expect((await createRuntimes(config, parts)).host).toBe(runtimes.host)
  })

  it.each([
    ['process', 'r.example.com/a:1', 'is an image, and no container engine was found or bundles.runtime is process'],
    ['container', '/srv/a', 'is a folder, which bundles.runtime does not run; set it to auto or process'],
  ])('with %s alone refuse %s', async (runtime, image, problem) => {
    const config = await load(`${registries}bundles: { runtime: ${runtime} }\n`)
    const runtimes = await createRuntimes(config, parts)
    const { runtimeFor, runtimes: all } = createRuntimeFor(config, runtimes, createBundleFolders(cwd))
    expect(all.map(hosted => hosted.runtime.type)).toEqual([runtime])
    expect(() => runtimeFor(revision(image, 'hub'))).toThrow(problem)
  })

  it('need no engine where there are no images', async () => {
    const env = { DOCKER_HOST: `unix://${cwd}/engine.sock` }
    const local = 'registries: [{ name: local, path: bundles, white_list: [a] }]\n'
    const present = existsSync(findSocket(env))
    expect('container' in (await createRuntimes(await load(local), { ...parts, env }))).toBe(present)
    writeFileSync(join(cwd, 'engine.sock'), '')
    expect(await createRuntimes(await load(local), { ...parts, env })).toHaveProperty('container')
  })

  it.runIf(root)('refuse a folder that the user of bundles cannot reach', async () => {
    chmodSync(cwd, 0o700)
    await expect(createRuntimes(await load('bundles: { runtime: process }\n'), parts)).rejects.toMatchObject({
      name: 'StartError',
      why: `They run as user 65534, which may not pass through ${cwd}.`,
    })
  })

  it.runIf(!root)('refuse a user that only root could be', async () => {
    await expect(createRuntimes(await load('bundles: { user: 1 }\n'), parts)).rejects.toMatchObject({
      name: 'StartError',
    })
  })
})
