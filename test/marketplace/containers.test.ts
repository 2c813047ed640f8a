/** Images from a registry that wants a password, run by a real engine, through the whole broker as it is installed. */
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sleep, systemClock } from '../../src/clock.ts'
import { createContainerRuntime } from '../../src/sandbox/container/container-runtime.ts'
import { createContainers } from '../../src/sandbox/container/containers.ts'
import { createEngine } from '../../src/sandbox/container/engine.ts'
import { useBuiltPackage } from '../cli/built-package.ts'
import { sandboxUser } from '../external/container-engine.ts'
import { type Podman, startPodman, whyNoPodman } from '../external/podman.ts'
import { type RegistryServer, startRegistry, whyNoRegistry } from '../registry/docker-registry.ts'
import { leftoversIn } from '../sandbox/process-subject.ts'
import { endOfSync, syncNow } from './broker.ts'
import { type BrokerProcess, serve, served, user } from './broker-process.ts'
import { type FickleFront, startFickleFront } from './fickle-front.ts'
import { idsOf, publish, reader } from './published.ts'

const reason = whyNoPodman() ?? whyNoRegistry()
const built = useBuiltPackage()
const { password, htpasswd } = reader
const ids = idsOf('team-pg-apb', 'small')
const log: string[] = []
let folder = ''
let registry: RegistryServer
let front: FickleFront
let podman: Podman
let broker: BrokerProcess

const specOf = (version: string) => `version: 1.0
name: pg-apb
description: says which version of it ran
bindable: true
async: optional
bundleVersion: ${version}
plans:
  - { name: small, description: the only one, free: true, parameters: [{ name: wait, type: string, updatable: true }] }
`

/** Where it is told to wait, it does until there is a file beside its outputs. */
const scriptOf = (version: string) => `cd "$BUNDLE_OUTPUT"
if [ "$1" = provision ] && grep -q '"wait":"yes"' "$BUNDLE_INPUT"; then
  echo waiting > progress
  until [ -e go ]; do sleep 0.05; done
fi
echo "$1 by ${version}" > message
case "$1" in
  provision | update) echo '{"madeBy":"made by ${version}"}' > state.json; echo '{"user":"me"}' > credentials.json ;;
  bind) echo "{\\"from\\":\\"bind of ${version}\\",\\"madeBy\\":\\"$(cat "$BUNDLE_STATE/madeBy")\\"}" > credentials.json ;;
esac`

function publishVersion(version: string): Promise<string> {
  return publish({
    podman,
    target: `${front.host}/apps/pg-apb:latest`,
    spec: specOf(version),
    script: scriptOf(version),
    credentials: `reader:${password}`,
  })
}

async function restart(): Promise<void> {
  broker = await serve({ bin: built.bin, folder, log })
}

const root = () => join(folder, 'run', 'c')
const containers = () => createContainers(createEngine(podman.socket), root(), systemClock)

async function expectNothingLeft(): Promise<void> {
  expect(await containers().list()).toEqual([])
  expect(leftoversIn(root())).toEqual([])
}

describe.skipIf(reason !== undefined)(
  `a bundle in an image${reason === undefined ? '' : ` (skipped: ${reason})`}`,
  () => {
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'purser-images-'))
      chmodSync(folder, 0o755)
      registry = await startRegistry({ htpasswd })
      front = await startFickleFront(registry.port)
      podman = await startPodman({ insecure: [front.host] })
      await publishVersion('1.0.0')
      const config = `registry:
  - type: apiv2
    name: team
    url: ${front.url}
    white_list: [".*-apb$"]
    auth_type: config
    user: reader
    pass: ${password}
bundles: { runtime: container, folder: run, socket: ${podman.socket} }
`
      writeFileSync(join(folder, 'purser.yaml'), served + config, { mode: 0o600 })
      await restart()
      await endOfSync(broker.admin)
    })
    afterAll(async () => {
      await broker?.stop()
      await podman?.stop()
      await front?.down()
      await registry?.stop()
      rmSync(folder, { recursive: true, force: true })
    })

    it('lives its whole life, and is pulled by its digest', async () => {
      const { life } = broker
      const [offered] = (await broker.admin.registries()).body.services ?? []
      expect(offered).toMatchObject({ id: ids.service_id, image: `${front.host}/apps/pg-apb@${offered?.digest}` })
      front.asked.length = 0
      expect(await life.provision('one', ids)).toMatchObject({ state: 'succeeded', description: 'provision by 1.0.0' })
      expect(front.asked).toContain(`/v2/apps/pg-apb/manifests/${offered?.digest}`)
      expect(await life.bind('one', 'b', ids)).toMatchObject({ state: 'succeeded' })
      expect(await life.credentials('one', 'b')).toEqual({ from: 'bind of 1.0.0', madeBy: 'made by 1.0.0' })
      expect(await life.unbind('one', 'b', ids)).toMatchObject({ state: 'succeeded', description: 'unbind by 1.0.0' })
      expect(await life.deprovision('one', ids)).toMatchObject({
        state: 'succeeded',
        description: 'deprovision by 1.0.0',
      })
      await expectNothingLeft()
    })

    it('stays with its image when the tag moves, until it is upgraded', async () => {
      const { life } = broker
      for (const id of ['old', 'moved'])
        expect(await life.provision(id, ids)).toMatchObject({ description: 'provision by 1.0.0' })
      await publishVersion('2.0.0')
      expect(await syncNow(broker.admin)).toBe('1 updated')
      expect(await life.provision('new', ids)).toMatchObject({ description: 'provision by 2.0.0' })
      expect(await life.upgrade('moved', ids, '2.0.0')).toMatchObject({ description: 'update by 2.0.0' })
      for (const [id, from] of [
        ['old', '1.0.0'],
        ['moved', '2.0.0'],
      ] as const) {
        expect(await life.bind(id, 'b', ids)).toMatchObject({ state: 'succeeded' })
        expect(await life.credentials(id, 'b')).toEqual({ from: `bind of ${from}`, madeBy: `made by ${from}` })
        expect(await life.unbind(id, 'b', ids)).toMatchObject({ description: `unbind by ${from}` })
        expect(await life.deprovision(id, ids)).toMatchObject({ description: `deprovision by ${from}` })
      }
      expect(await life.deprovision('new', ids)).toMatchObject({ description: 'deprovision by 2.0.0' })
      await expectNothingLeft()
    })

    it('runs once, and nothing is left, however often its broker is killed', async () => {
      const request = { ...ids, organization_guid: 'o', space_guid: 's', parameters: { wait: 'yes' } }
      const accepted = await broker.client.provision('killed', request, { acceptsIncomplete: true })
      expect(accepted.status).toBe(202)
      await broker.kill()
      await restart()
      const running = await untilWaiting()
      await broker.kill()
      expect(await containers().list()).toEqual([running])
      await restart()
      await untilProgress()
      expect(await containers().list()).toEqual([running])
      writeFileSync(join(outputOf(running.sandbox), 'go'), '')
      await broker.kill()
      await restart()
      const again = await broker.life.provision('killed', ids, { wait: 'yes' })
      expect([again.state, again.status]).toContainEqual(again.state === undefined ? 200 : 'succeeded')
      expect(await startsOf(running.sandbox)).toEqual([running.id])
      expect(await broker.life.bind('killed', 'b', ids)).toMatchObject({ description: 'bind by 2.0.0' })
      expect(await broker.life.credentials('killed', 'b')).toEqual({ from: 'bind of 2.0.0', madeBy: 'made by 2.0.0' })
      expect(await broker.life.unbind('killed', 'b', ids)).toMatchObject({ state: 'succeeded' })
      expect(await broker.life.deprovision('killed', ids)).toMatchObject({ state: 'succeeded' })
      await expectNothingLeft()
    })

    it('waits for its registry where its image is nowhere else', async () => {
      const { life, client } = broker
      expect(await life.provision('alone', ids)).toMatchObject({ state: 'succeeded' })
      const [offered] = (await broker.admin.registries()).body.services ?? []
      await podman.forget(offered?.image ?? '')
      await front.down()
      const gone = life.deprovision('alone', ids)
      // Why, is in the log of the broker.
      await expect
        .poll(async () => (await client.lastOperation('alone')).body, { timeout: 60_000 })
        .toMatchObject({ state: 'in progress', description: expect.stringContaining('trying again') })
      expect(log.join('\n')).toContain('cannot be pulled now')
      await front.up()
      expect(await gone).toMatchObject({ state: 'succeeded' })
      await expectNothingLeft()
    })

    it('is known by its exit code, however short it ran', async () => {
      const runtime = createContainerRuntime({
        socket: podman.socket,
        folder: join(folder, 'short'),
        clock: systemClock,
        user: sandboxUser,
      })
      const program = { kind: 'image', image: await podman.image('exit 3'), pull: 'never' } as const
      const inputs = { action: 'provision', input: {}, extraVars: {}, state: {}, helpers: {}, env: {} }
      for (let number = 1; number <= 12; number += 1) {
        const name = `short-${number}`
        const limits = { time: 600_000, output: 1_000_000 }
        await runtime.start({ name, labels: {}, program, inputs, limits, network: 'none' })
        expect(await runtime.wait(name, new AbortController().signal)).toEqual({ kind: 'exited', code: 3 })
        await runtime.remove(name)
      }
    })

    it('has told nobody a password', () => {
      const told = [...log, ...broker.life.answers].join('\n')
      for (const secret of [password, user.password, Buffer.from(`reader:${password}`).toString('base64')])
        expect(told).not.toContain(secret)
    })
  },
)

/** The one container that there is, when it has begun to wait. */
async function untilWaiting() {
  for (;;) {
    const [running] = await containers().list()
    if (running?.running && readdirSync(outputOf(running.sandbox)).includes('progress')) return running
    await sleep(systemClock, 50)
  }
}

async function untilProgress(): Promise<void> {
  while ((await broker.client.lastOperation('killed')).body.description !== 'waiting') await sleep(systemClock, 50)
}

function outputOf(sandbox: string): string {
  const folders = readdirSync(join(root(), sandbox)).filter(name => name.startsWith('output'))
  return join(root(), sandbox, folders[0] ?? '')
}

/** The ids of the containers that were started for a sandbox. */
async function startsOf(sandbox: string): Promise<readonly string[]> {
  const filters = encodeURIComponent(JSON.stringify({ type: ['container'], event: ['start'] }))
  // All there are: with an end in time, a busy Podman may stop before it has told any.
  const answer = await createEngine(podman.socket).call('GET', `/events?stream=false&filters=${filters}`)
  const chunks: Buffer[] = []
  for await (const chunk of answer.stream) chunks.push(chunk)
  const events = Buffer.concat(chunks)
    .toString('utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line))
  return events.filter(({ Actor }) => Actor.Attributes.name === `purser-${sandbox}`).map(({ Actor }) => Actor.ID)
}
