import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseBundleSpec } from '../../../src/bundle/spec.ts'
import { systemClock } from '../../../src/clock.ts'
import { pickRuntime, runtimeAt } from '../../../src/driver/bundle/pick-runtime.ts'
import type { Registry } from '../../../src/registry.ts'
import { createBundleFolders } from '../../../src/running/bundles/folders.ts'
import { createRegistries } from '../../../src/running/bundles/open.ts'
import { createRuntimes, findSocket } from '../../../src/running/bundles/runtimes.ts'
import { createProgramFor } from '../../../src/running/bundles/sandbox-inputs.ts'
import { createSecretFolder } from '../../../src/running/bundles/secrets.ts'
import type { Runtime } from '../../../src/sandbox.ts'
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

const { spec } = parseBundleSpec(
  {
    version: '1.0',
    name: 'a',
    description: 'x',
    bindable: false,
    async: 'optional',
    plans: [{ name: 'p', description: 'x', free: true }],
  },
  'bundle.yml',
)
if (spec === undefined) throw new Error('the spec is wrong')

describe('createRegistries', () => {
  const theirs: Registry = {
    name: 'theirs',
    type: 'mine',
    list: async () => ({ kind: 'complete', found: [], problems: [] }),
  }

  it('makes them in the order of the configuration, and puts those of others behind them', async () => {
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
    const names = createRegistries(config, { ...parts, secrets: createSecretFolder(cwd), registries: [theirs] })
    expect(names.map(({ name }) => name)).toEqual(['hub', 'local', 'theirs'])
    expect(() =>
      createRegistries(config, {
        ...parts,
        secrets: createSecretFolder(cwd),
        registries: [{ ...theirs, name: 'hub' }],
      }),
    ).toThrow('There are two registries with the name "hub".')
    const answer = await registries[1]?.list(new AbortController().signal)
    expect(answer).toMatchObject({ kind: 'complete', found: [{ name: 'db', image: join(cwd, 'bundles/db') }] })
  })
})

describe('the runtimes of a broker', () => {
  const registries = `registries:
  - { name: local, path: bundles, white_list: [a] }
  - { name: hub, type: oci, url: "https://r.example.com", white_list: [a], user: me, pass: secret-1 }
`
  const image = revision('r.example.com/a@sha256:00', 'hub')

  it('run folders as processes, and images as containers', async () => {
    const config = await load(`${registries}bundles: { socket: engine.sock }\n`)
    const { runtimes, host } = await createRuntimes(config, parts)
    expect(runtimes.map(({ type, runs, reach }) => ({ type, runs, reach }))).toEqual([
      { type: 'process', runs: ['folder'], reach: 'host' },
      { type: 'container', runs: ['image'], reach: 'host' },
    ])
    expect(pickRuntime(runtimes, image).type).toBe('container')
    expect(pickRuntime(runtimes, revision('/srv/a', 'local')).type).toBe('process')
    expect((await createRuntimes(config, parts)).host).toBe(host)
  })

  it('are made for what those of others do not run', async () => {
    const config = await load(`${registries}bundles: { socket: engine.sock }\n`)
    const [process] = (await createRuntimes(config, parts)).runtimes
    if (process === undefined) throw new Error('there is no runtime')
    const cluster: Runtime = { ...process, type: 'cluster', runs: ['image'], reach: 'anywhere' }
    const { runtimes, host } = await createRuntimes(config, { ...parts, runtimes: [cluster] })
    expect(runtimes.map(({ type }) => type)).toEqual(['cluster', 'process'])
    expect(pickRuntime(runtimes, image).type).toBe('cluster')
    expect(pickRuntime(runtimes, revision('/srv/a', 'local')).type).toBe('process')
    expect(runtimeAt({ runtimes, host }, { runtime: 'cluster' })).toBe(cluster)
    expect(runtimeAt({ runtimes, host }, { runtime: 'process', host: 'elsewhere' })).toBeUndefined()
    expect(runtimeAt({ runtimes, host }, { runtime: 'process', host })?.type).toBe('process')
    const both = await load(`${registries}bundles: { runtime: process }\n`)
    await expect(createRuntimes(both, { ...parts, runtimes: [process] })).rejects.toMatchObject({
      name: 'StartError',
      message: expect.stringContaining('There are two runtimes of the type "process".'),
    })
  })

  it.each([
    ['process', 'r.example.com/a:1', 'is an image, and no container engine was found or bundles.runtime is process'],
    ['container', '/srv/a', 'is a folder, which bundles.runtime does not run; set it to auto or process'],
  ])('with %s alone refuse %s', async (type, program, problem) => {
    const config = await load(`${registries}bundles: { runtime: ${type} }\n`)
    const { runtimes } = await createRuntimes(config, parts)
    expect(runtimes.map(runtime => runtime.type)).toEqual([type])
    expect(() => pickRuntime(runtimes, revision(program, 'hub'))).toThrow(problem)
  })

  it('need no engine where there are no images', async () => {
    const env = { DOCKER_HOST: `unix://${cwd}/engine.sock` }
    const local = 'registries: [{ name: local, path: bundles, white_list: [a] }]\n'
    const types = async () =>
      (await createRuntimes(await load(local), { ...parts, env })).runtimes.map(({ type }) => type)
    expect((await types()).includes('container')).toBe(existsSync(findSocket(env)))
    writeFileSync(join(cwd, 'engine.sock'), '')
    expect(await types()).toContain('container')
  })

  it('are given folders as they are, and images with the credentials of their registry', async () => {
    const config = await load(registries)
    const programFor = createProgramFor({
      pull: 'always',
      folders: createBundleFolders(cwd),
      registries: createRegistries(config, { ...parts, secrets: createSecretFolder(cwd) }),
    })
    const run = { kind: 'image', image: 'r.example.com/a@sha256:00', pull: 'always', readsJson: true }
    expect(await programFor({ revision: image, spec })).toEqual({
      ...run,
      credentials: { username: 'me', password: 'secret-1' },
    })
    expect(await programFor({ revision: { ...image, registry: 'gone' }, spec })).toEqual(run)
    expect(await programFor({ revision: image, spec: { ...spec, entrypoint: 'bin/run' } })).toMatchObject({
      entrypoint: 'bin/run',
    })
    mkdirSync(join(cwd, 'a'))
    const folder = join(cwd, 'a')
    expect(await programFor({ revision: revision(folder, 'local'), spec })).toEqual({ kind: 'folder', folder })
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
