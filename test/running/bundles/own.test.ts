/** Registries and runtimes that others wrote, in a broker that is made in code. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createBroker, type Registry, type Runtime } from '../../../src/index.ts'
import { digestOf } from '../../../src/registry/index.ts'
import type { SandboxSpec } from '../../../src/sandbox/index.ts'
import { bundle, idsOf } from '../../sync/world.ts'

const shop: Registry = {
  name: 'shop',
  type: 'mine',
  list: async () => ({
    kind: 'complete',
    found: [{ ...bundle('pg'), digest: digestOf(Buffer.from('pg')) }],
    problems: [],
  }),
}

/** Keeps what it was asked to start; everything has ended at once. */
function createRuntime(started: SandboxSpec[]): Runtime {
  return {
    type: 'mine',
    runs: ['image'],
    reach: 'anywhere',
    prepare: async () => {},
    async start(spec) {
      started.push(spec)
      return { attached: false }
    },
    status: async () => ({ kind: 'exited', code: 0 }),
    wait: async () => ({ kind: 'exited', code: 0 }),
    cancel: async () => {},
    progress: async () => undefined,
    collect: async () => ({ outputs: { problems: [] }, log: '' }),
    remove: async () => {},
    list: async () => [],
  }
}

function start(more: object = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'purser-own-'))
  chmodSync(folder, 0o755)
  const started: SandboxSpec[] = []
  const bundles = {
    folder,
    registries: [shop],
    runtimes: [createRuntime(started)],
    ...more,
  }
  const settings = { osb: { requireOrgAndSpace: false } }
  const broker = createBroker({ services: [] }, { store: 'memory:', authenticator: 'none', settings, bundles })
  onTestFinished(async () => {
    await broker.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const call = async (method: string, path: string, body?: object) => {
    const headers = { 'x-broker-api-version': '2.17', 'content-type': 'application/json' }
    const answer = await broker.fetch(
      new Request(`http://localhost${path}`, { method, headers, body: body && JSON.stringify(body) }),
    )
    return (await answer.json()) as { services?: { name: string }[]; state?: string }
  }
  return { broker, call, started }
}

it('are asked and picked like those of this project', async () => {
  const { broker, call, started } = start()
  await broker.start()
  await expect
    .poll(async () => (await call('GET', '/v2/catalog')).services?.map(({ name }) => name))
    .toEqual(['shop-pg'])
  const ids = idsOf('shop', 'pg')
  await call('PUT', '/v2/service_instances/i?accepts_incomplete=true', ids)
  await expect
    .poll(async () => (await call('GET', '/v2/service_instances/i/last_operation')).state, { timeout: 10_000 })
    .toBe('succeeded')
  expect(started).toMatchObject([{ program: { kind: 'image' }, inputs: { action: 'provision' } }])
})

it('stand beside entries as in a configuration, whose mistakes are all told at once', async () => {
  const { broker } = start({
    registries: [shop, { name: 'x y', type: 'oci' }],
    timeout: 'soon',
    netwrok: 'none',
  })
  const failed = await broker.start().catch(error => String(error))
  for (const part of [
    'bundles.timeout',
    'did you mean network?',
    'registries[0].name: found "x y"',
    'registries[0].url: is missing',
  ])
    expect(failed).toContain(part)
})
