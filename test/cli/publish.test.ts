/** What an author does with a bundle that works: an image, a registry, and a broker that offers it. All of it real. */
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApbImage, whyNoApbBase } from '../external/apb-base.ts'
import { baseImage, type ContainerEngine } from '../external/container-engine.ts'
import { startDocker, whyNoDocker } from '../external/docker.ts'
import { type Podman, startPodman, whyNoPodman } from '../external/podman.ts'
import { endOfSync } from '../marketplace/broker.ts'
import { serve, served, user } from '../marketplace/broker-process.ts'
import { type RegistryServer, startRegistry, whyNoRegistry } from '../registry/docker-registry.ts'
import { runNode, useBuiltPackage } from './built-package.ts'
import { makeFolder } from './test-io.ts'

const built = useBuiltPackage()
const password = 's3cret-pass'
/** Of the password above. */
const htpasswd = 'reader:$2y$05$abcdefghijklmnopqrstuuV7fpPozvyqJfnY19y0802WTlXUm6Rjy\n'
const noPodman = whyNoPodman() ?? whyNoRegistry() ?? whyNoRegistry('buildah')
const noDocker = whyNoDocker() ?? whyNoRegistry()
const noBase = await whyNoApbBase()

let registry: RegistryServer
beforeAll(async () => {
  if (noPodman === undefined || noDocker === undefined) registry = await startRegistry({ htpasswd })
})
afterAll(() => registry?.stop())
const host = () => `127.0.0.1:${registry.port}`

/** As `podman login` and `docker login` leave it. */
async function logIn(folder: string): Promise<Readonly<Record<string, string>>> {
  const auth = Buffer.from(`reader:${password}`).toString('base64')
  const file = join(folder, 'config.json')
  await writeFile(file, JSON.stringify({ auths: { [host()]: { auth } } }))
  return { REGISTRY_AUTH_FILE: file, DOCKER_CONFIG: folder }
}

function purserIn(cwd: string, env: Readonly<Record<string, string>>) {
  return (...args: readonly string[]) => runNode(built.bin, ['bundle', ...args], { cwd, env })
}

/** From the first file to an image in the registry; answers what `push` printed. */
async function publish(engine: string, env: Readonly<Record<string, string>>, image: string) {
  const cwd = await makeFolder()
  const login = await makeFolder()
  const purser = purserIn(cwd, env)
  expect(await purser('init', 'greeter')).toMatchObject({ code: 0 })
  const build = ['build', 'greeter', '--engine', engine, '--build-arg', `BASE=${baseImage}`, '--tag', image]
  const made = await purser(...build, '--output', 'json')
  expect(made, made.err).toMatchObject({ code: 0, err: expect.stringContaining(`building ${image} with ${engine}\n`) })
  expect(JSON.parse(made.out)).toEqual({
    image,
    image_id: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    engine,
    built_with: 'Containerfile',
  })
  const push = ['push', image, '--engine', engine, '--insecure', '--output', 'json']
  const refused = await purser(...push)
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(`Log in with ${engine} login`) })
  const pushed = await purserIn(cwd, { ...env, ...(await logIn(login)) })(...push)
  expect(pushed, pushed.err).toMatchObject({ code: 0 })
  expect(pushed.err + pushed.out).not.toContain(password)
  return JSON.parse(pushed.out)
}

/** The digest that the registry has. */
async function digestIn(repository: string, tag: string): Promise<string | null> {
  const headers = {
    authorization: `Basic ${Buffer.from(`reader:${password}`).toString('base64')}`,
    accept: 'application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json',
  }
  const { headers: answered } = await fetch(`http://${host()}/v2/${repository}/manifests/${tag}`, { headers })
  return answered.get('docker-content-digest')
}

describe.skipIf(noPodman !== undefined)(`with Podman and Buildah${noPodman ? ` (${noPodman})` : ''}`, () => {
  let podman: Podman
  let env: Readonly<Record<string, string>>
  beforeAll(async () => {
    podman = await startPodman({ insecure: [host()] })
    env = { ...podman.env, DOCKER_HOST: `unix://${podman.socket}`, XDG_RUNTIME_DIR: '', HOME: '/nonexistent' }
  })
  afterAll(() => podman?.stop())

  it.each(['podman', 'buildah'])('%s builds and pushes what a registry shows as a bundle', async engine => {
    const result = await publish(engine, env, `${host()}/team/${engine}:1.0`)
    expect(result).toEqual({
      image: `${host()}/team/${engine}:1.0`,
      digest: await digestIn(`team/${engine}`, '1.0'),
      engine,
      bundle: 'greeter',
      registry: {
        name: 'team',
        type: 'oci',
        url: `http://${host()}`,
        images: [`team/${engine}`],
        tag: '1.0',
        white_list: [`^team/${engine}$`],
      },
    })
  })

  it('refuses to push what is not there, or is no bundle', async () => {
    const purser = purserIn(await makeFolder(), env)
    expect(await purser('push', `${host()}/none:1`)).toMatchObject({
      code: 1,
      err: expect.stringContaining(`next: Build it first: purser bundle build <folder> --tag ${host()}/none:1.`),
    })
    expect(await purser('push', baseImage)).toMatchObject({
      code: 1,
      err: expect.stringContaining(`error: ${baseImage} is not a bundle\n`),
    })
  })

  it('a spec is pushed to the broker itself, as apb push does, and its image is run', async () => {
    const cwd = await makeFolder()
    await chmod(cwd, 0o755)
    const purser = purserIn(cwd, env)
    await purser('init', 'greeter')
    const image = 'localhost/greeter:0.1.0'
    expect(await purser('build', 'greeter', '--build-arg', `BASE=${baseImage}`)).toMatchObject({ code: 0 })
    await writeFile(
      join(cwd, 'purser.yaml'),
      `${served}osb: { apbRoutes: true }\nbundles: { folder: run, socket: ${podman.socket} }\n`,
      { mode: 0o600 },
    )
    const log: string[] = []
    const broker = await serve({ bin: built.bin, folder: cwd, log })
    try {
      const spec = `image: ${image}\n${await readFile(join(cwd, 'greeter', 'bundle.yml'), 'utf8')}`
      const answer = await fetch(`${broker.url}/ansible-service-broker/v2/apb`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`${user.username}:${user.password}`)}` },
        body: new URLSearchParams({ apbSpec: Buffer.from(spec).toString('base64') }),
      })
      const { services } = (await answer.json()) as { services: { id: string; plans: { id: string }[] }[] }
      expect((await broker.client.catalog()).body).toEqual({ services })
      const ids = { service_id: services[0]?.id ?? '', plan_id: services[0]?.plans[0]?.id ?? '' }
      expect(await broker.life.provision('one', ids), log.join('\n')).toMatchObject({ state: 'succeeded' })
      expect(await broker.life.deprovision('one', ids)).toMatchObject({ state: 'succeeded' })
    } finally {
      await broker.stop()
    }
  })

  it.skipIf(noBase !== undefined)(
    `a bundle in Ansible goes from init to a provision by a broker${noBase ? ` (${noBase})` : ''}`,
    async () => {
      const cwd = await makeFolder()
      const temporary = await makeFolder()
      for (const folder of [cwd, temporary]) await chmod(folder, 0o755)
      const purser = purserIn(cwd, { ...env, TMPDIR: temporary, ...(await logIn(cwd)) })
      const base = buildApbImage('', {})
      const loaded = await podman.load(
        base.archive,
        base.changes.filter(line => line.startsWith('ENV PATH')),
      )
      base.remove()
      const image = `${host()}/apps/greeter:0.1.0`
      expect(await purser('init', '--ansible', 'greeter')).toMatchObject({ code: 0 })
      const made = await purser('build', 'greeter', '--tag', image, '--build-arg', `BASE=${loaded}`)
      expect(made, made.err).toMatchObject({ code: 0, out: expect.stringContaining('engine      podman\n') })
      const run = (...args: readonly string[]) => purser('run', ...args, 'greeter', '--image', image)
      const tested = await run('test')
      expect(tested, tested.err).toMatchObject({
        code: 0,
        out: expect.stringMatching(/^passed: the greeting is kept\n/),
      })
      expect(await run('provision', '--param', 'greeting=Ahoy')).toMatchObject({ code: 0 })
      const bound = await run('bind', '--show-credentials', '--output', 'json')
      expect(JSON.parse(bound.out)).toMatchObject({ credentials: { greeting: 'Ahoy' } })

      const pushed = await purser('push', image, '--insecure')
      expect(pushed, pushed.err).toMatchObject({ code: 0 })
      const digest = await digestIn('apps/greeter', '0.1.0')
      expect(pushed.out).toContain(`digest  ${digest}\n`)
      const section = pushed.out.slice(pushed.out.indexOf('registries:\n'))
      await writeFile(
        join(cwd, 'purser.yaml'),
        `${served}bundles: { runtime: container, folder: run, socket: ${podman.socket} }\n${section}    user: reader\n    pass: ${password}\n`,
        { mode: 0o600 },
      )
      const log: string[] = []
      const broker = await serve({ bin: built.bin, folder: cwd, log })
      try {
        await endOfSync(broker.admin)
        const shown = await purser('show', 'greeter', '--registry', 'apps', '--output', 'json')
        const { service } = JSON.parse(shown.out)
        const { body } = await broker.client.catalog()
        expect(body).toEqual({ services: [service] })
        const ids = { service_id: service.id, plan_id: service.plans[0].id }
        expect(await broker.life.provision('one', ids), log.join('\n')).toMatchObject({ state: 'succeeded' })
        expect(await broker.life.bind('one', 'b', ids)).toMatchObject({ state: 'succeeded' })
        expect(await broker.life.credentials('one', 'b')).toMatchObject({ greeting: 'Hello' })
        expect(await broker.life.unbind('one', 'b', ids)).toMatchObject({ state: 'succeeded' })
        expect(await broker.life.deprovision('one', ids)).toMatchObject({ state: 'succeeded' })
      } finally {
        await broker.stop()
      }
    },
  )
})

describe.skipIf(noDocker !== undefined)(`with Docker${noDocker ? ` (${noDocker})` : ''}`, () => {
  let docker: ContainerEngine
  beforeAll(async () => {
    docker = await startDocker({ network: 'host' })
  })
  afterAll(() => docker?.stop())

  it('builds and pushes what a registry shows as a bundle', async () => {
    const image = `${host()}/team/docker:1.0`
    const result = await publish('docker', { DOCKER_HOST: `unix://${docker.socket}`, HOME: '/nonexistent' }, image)
    expect(result).toMatchObject({ image, digest: await digestIn('team/docker', '1.0'), engine: 'docker' })
  })
})
