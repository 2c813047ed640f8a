/** The image of Containerfile: built, run by Podman, and used as a platform would use it. */
import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOsbClient } from '../../src/client/index.ts'
import { freePort } from '../external/free-port.ts'
import { type Podman, startPodman, whyNoPodman } from '../external/podman.ts'
import { baseImage, buildPurserImage, purserImage, whyNoBuild } from '../external/purser-image.ts'
import { user } from '../marketplace/broker-process.ts'
import { createLife } from '../marketplace/life.ts'

const reason = whyNoPodman() ?? whyNoBuild()
const ids = { service_id: '11111111-1111-4111-8111-111111111111', plan_id: '22222222-2222-4222-8222-222222222222' }

const broker = `import { defineBroker, defineService } from 'purser'
export default defineBroker({
  services: [
    defineService({
      id: '${ids.service_id}',
      name: 'db',
      description: 'a database',
      bindable: false,
      plans: [{ id: '${ids.plan_id}', name: 'small', description: 'small' }],
      provision: async ctx => ({ state: { name: await ctx.step('name', () => 'db1') } }),
      deprovision: async () => {},
    }),
  ],
})
`

describe.skipIf(reason !== undefined)(
  `the container image${reason === undefined ? '' : ` (skipped: ${reason})`}`,
  () => {
    let podman: Podman
    let folder: string
    let run: (...args: string[]) => Promise<string>

    beforeAll(async () => {
      const { image, base } = await buildPurserImage()
      podman = await startPodman()
      run = async (...args) =>
        (await promisify(execFile)('podman', ['--remote', '--url', `unix://${podman.socket}`, ...args])).stdout.trim()
      await run('load', '--input', base)
      await run('load', '--input', image)
      folder = mkdtempSync(join(tmpdir(), 'purser-image-'))
      chmodSync(folder, 0o755)
      writeFileSync(join(folder, 'broker.mjs'), broker)
    })
    afterAll(async () => {
      await podman?.stop()
      rmSync(folder, { recursive: true, force: true })
    })

    it('adds less than 40 MB to its base, and runs as a user of its own', async () => {
      const size = async (image: string) => Number(await run('image', 'inspect', '--format', '{{.Size}}', image))
      expect((await size(purserImage)) - (await size(baseImage))).toBeLessThan(40e6)
      expect(await run('image', 'inspect', '--format', '{{.Config.User}}', purserImage)).toBe('10001:10001')
    })

    it('serves a broker of somebody else, on a root that cannot be written to, without any right', async () => {
      const port = await freePort()
      const settings = {
        PURSER_USERNAME: user.username,
        PURSER_PASSWORD: user.password,
        PURSER_SERVER_PORT: String(port),
      }
      const env = { ...settings, PURSER_STORE: 'sqlite:/data/ledger.db', PURSER_SERVER_SHUTDOWN_DELAY: '0s' }
      const args = [
        ...['run', '--detach', '--network', 'host', '--read-only', '--read-only-tmpfs=false', '--cap-drop', 'all'],
        ...[
          '--security-opt',
          'no-new-privileges',
          '--tmpfs',
          '/data:mode=1777',
          '--volume',
          `${folder}:/etc/purser:ro`,
        ],
        ...Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
        purserImage,
      ]
      const container = await run(...args)
      const client = createOsbClient({ url: `http://127.0.0.1:${port}`, ...user })
      const isServed = () =>
        client.catalog().then(
          ({ status }) => status,
          () => run('logs', container),
        )
      await expect.poll(isServed, { timeout: 60_000 }).toBe(200)
      const life = createLife(client)
      expect(await life.provision('i-1', ids)).toMatchObject({ state: 'succeeded' })
      expect(await life.deprovision('i-1', ids)).toMatchObject({ state: 'succeeded' })
      expect(await run('exec', container, 'id', '-u')).toBe('10001')
      await run('stop', '--time', '30', container)
      expect(await run('inspect', '--format', '{{.State.ExitCode}}', container)).toBe('0')
    })

    it('has the databases and the cluster', async () => {
      const load = ['pg', 'mongodb', '@kubernetes/client-node'].map(name => `await import('${name}')`).join(';')
      const options = ['run', '--rm', '--network', 'none', '--entrypoint', 'node']
      expect(await run(...options, purserImage, '--input-type=module', '--eval', `${load};console.log('all')`)).toBe(
        'all',
      )
    })
  },
)
