/** An image that instances need and its registry has lost: where the machine keeps it, and where it does not. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useBuiltPackage } from '../cli/built-package.ts'
import { keptNamesOf, pruneImages } from '../external/container-engine.ts'
import { type Podman, startPodman, whyNoPodman } from '../external/podman.ts'
import { type RegistryServer, startRegistry, whyNoRegistry } from '../registry/docker-registry.ts'
import { endOfSync, syncNow } from './broker.ts'
import { type BrokerProcess, serve, served } from './broker-process.ts'
import { idsOf, publish, reader } from './published.ts'

const reason = whyNoPodman() ?? whyNoRegistry()
const built = useBuiltPackage()
const credentials = `${reader.name}:${reader.password}`
const ids = idsOf('team-pg-apb', 'small')
const log: string[] = []
let folder = ''
let registry: RegistryServer
let podman: Podman
let broker: BrokerProcess

const host = () => `127.0.0.1:${registry.port}`
const imageOf = (digest: string) => `${host()}/apps/pg-apb@${digest}`

/** The tag moves to it; answers its digest. */
function publishVersion(version: string): Promise<string> {
  const spec = `version: 1.0
name: pg-apb
description: says which version of it ran
bindable: false
async: optional
bundleVersion: ${version}
plans: [{ name: small, description: the only one, free: true, parameters: [] }]
`
  const script = `echo "$1 by ${version}" > "$BUNDLE_OUTPUT/message"`
  return publish({ podman, target: `${host()}/apps/pg-apb:latest`, spec, script, credentials })
}

async function restart(keepPinned: boolean): Promise<void> {
  await broker?.stop()
  const config = `registries:
  - { type: oci, name: team, url: "http://${host()}", white_list: [".*-apb$"], auth_type: config, user: ${reader.name}, pass: ${reader.password} }
bundles: { runtime: container, folder: run, socket: ${podman.socket}, keepPinned: ${keepPinned} }
`
  writeFileSync(join(folder, 'purser.yaml'), served + config, { mode: 0o600 })
  broker = await serve({ bin: built.bin, folder, log })
  await endOfSync(broker.admin)
}

/** As somebody does who cleans up the registry, and then the machine. */
async function loseImage(digest: string): Promise<void> {
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`
  const url = `http://${host()}/v2/apps/pg-apb/manifests/${digest}`
  expect((await fetch(url, { method: 'DELETE', headers: { authorization } })).status).toBe(202)
  await podman.forget(imageOf(digest))
  await pruneImages(podman)
}

const keptTags = async () => (await keptNamesOf(podman)).map(name => `sha256:${name.split(':')[1]}`)

describe.skipIf(reason !== undefined)(
  `an image that its registry has lost${reason === undefined ? '' : ` (skipped: ${reason})`}`,
  () => {
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'purser-kept-'))
      chmodSync(folder, 0o755)
      registry = await startRegistry(reader)
      podman = await startPodman({ insecure: [host()] })
    })
    afterAll(async () => {
      await broker?.stop()
      await podman?.stop()
      await registry?.stop()
      rmSync(folder, { recursive: true, force: true })
    })

    it('still runs where it was kept, and is let go of when nobody needs it', async () => {
      const digest = await publishVersion('1.0.0')
      await restart(true)
      expect(await broker.life.provision('kept', ids)).toMatchObject({ description: 'provision by 1.0.0' })
      // A new machine has nothing: it pulls what instances need, also when it is not offered any more.
      await broker.stop()
      await podman.forget(imageOf(digest))
      await publishVersion('2.0.0')
      await restart(true)
      await expect.poll(keptTags, { timeout: 60_000 }).toEqual([digest])
      await loseImage(digest)
      expect(await broker.life.deprovision('kept', ids)).toMatchObject({ description: 'deprovision by 1.0.0' })
      await expect.poll(keptTags, { timeout: 60_000 }).toEqual([])
      expect(log.join('\n')).not.toContain('are not kept')
    })

    it('is told about where it could not be kept any more, and nothing else stops', async () => {
      const digest = await publishVersion('3.0.0')
      await syncNow(broker.admin)
      expect(await broker.life.provision('late', ids)).toMatchObject({ description: 'provision by 3.0.0' })
      await broker.stop()
      for (const name of await keptNamesOf(podman)) await podman.forget(name)
      await loseImage(digest)
      await publishVersion('4.0.0')
      await restart(true)
      await expect
        .poll(() => log.filter(line => line.includes('are not kept on this machine')), { timeout: 60_000 })
        .toEqual([expect.stringContaining(imageOf(digest))])
      expect(log.join('\n')).not.toContain(reader.password)
      expect(await broker.life.provision('other', ids)).toMatchObject({ description: 'provision by 4.0.0' })
    })

    it('cannot run where nothing was kept', async () => {
      const digest = await publishVersion('5.0.0')
      await restart(false)
      expect(await broker.life.provision('lost', ids)).toMatchObject({ description: 'provision by 5.0.0' })
      const kept = await keptTags()
      await publishVersion('6.0.0')
      expect(await syncNow(broker.admin)).toContain('1 updated')
      expect(await keptTags()).toEqual(kept)
      await loseImage(digest)
      expect(await broker.life.deprovision('lost', ids)).toMatchObject({
        state: 'failed',
        description: expect.stringContaining('its image is not in its registry'),
      })
    })
  },
)
