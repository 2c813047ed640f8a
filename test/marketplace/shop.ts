/** A registry with several hundred bundles, a broker over it, and instances that live through whatever happens to it. */
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Service } from '../../src/author/define-service.ts'
import type { RegistryBody } from '../../src/client/index.ts'
import { type Clock, systemClock } from '../../src/clock.ts'
import type { Revision } from '../../src/domain/revision.ts'
import { startRegistry } from '../registry/docker-registry.ts'
import { labelsOf, type Pushed, pushImage } from '../registry/push.ts'
import { endOfSync, type OpenBroker, openBroker, syncNow } from './broker.ts'
import { startFickleFront } from './fickle-front.ts'
import { createLife, type Ids, type Life } from './life.ts'

export const password = 's3cret-pass'
/** Of the password above. */
const htpasswd = 'reader:$2y$05$abcdefghijklmnopqrstuuV7fpPozvyqJfnY19y0802WTlXUm6Rjy\n'
const basic = Buffer.from(`reader:${password}`).toString('base64')

export interface SpecOptions {
  readonly version?: string
  readonly plans?: readonly string[]
}

export function specOf(name: string, { version = '1.0.0', plans = ['small'] }: SpecOptions = {}): string {
  const lines = plans.map(plan => `  - { name: ${plan}, description: the ${plan} one, free: true }`)
  return `version: 1.0\nname: ${name}\ndescription: a bundle\nbindable: true\nasync: optional\nbundleVersion: ${version}\nplans:\n${lines.join('\n')}\n`
}

/** As the Automation Broker makes them, worked out here once more. */
export function idsOf(name: string): Ids {
  const md5 = (text: string) => createHash('md5').update(text).digest('hex')
  return { service_id: md5(`team-${name}`), plan_id: md5(`team-${name}-small`) }
}

/** Runs like the machine's, or faster: whoever waits half a minute for a registry does not wait that long. */
function createHastyClock(): Clock & { speed: number } {
  const clock = {
    speed: 20,
    now: systemClock.now,
    after: (ms: number, callback: () => void) => systemClock.after(ms / clock.speed, callback),
  }
  return clock
}

export type Shop = Awaited<ReturnType<typeof openShop>>

export async function openShop(count: number) {
  const folder = mkdtempSync(join(tmpdir(), 'purser-shop-'))
  const registry = await startRegistry({ htpasswd })
  const base = `http://127.0.0.1:${registry.port}`
  const front = await startFickleFront(registry.port)
  const clock = createHastyClock()
  const log: string[] = []
  /** `bind 1.0.0 sha256:…`: what ran, by instance. */
  const ran: { readonly action: string; readonly instance: string; readonly version?: string | undefined }[] = []
  const answers: string[] = []
  /** The bundles that the catalog should have. */
  const offered = new Set<string>()
  /** What is provisioned, and the version that it has to run. */
  const instances = new Map<string, { readonly name: string; version: string }>()
  const pushed = new Map<string, Pushed>()
  let open: { readonly broker: OpenBroker; readonly life: Life } | undefined

  const push = async (name: string, options: SpecOptions = {}, labels = labelsOf(specOf(name, options))) => {
    pushed.set(name, await pushImage(base, `apps/${name}`, labels, { headers: { authorization: `Basic ${basic}` } }))
  }
  const login = (right: boolean) =>
    writeFileSync(join(folder, 'login.yaml'), `username: reader\npassword: ${right ? password : 'wr0ng-pass'}\n`)
  login(true)
  const names = Array.from({ length: count }, (_, index) => `b${String(index).padStart(3, '0')}-apb`)
  const waiting = names.values()
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (const name of waiting) await push(name)
    }),
  )
  for (const name of names) offered.add(name)
  // Neither is meant for the catalog.
  await push('not-listed')
  await push('plain-apb', {}, {})

  const drive = ({ serviceId, bundleVersion: version }: Revision): Service => {
    const act = (action: string, instance: string) => {
      ran.push({ action, instance, version })
    }
    return {
      id: serviceId,
      provision: ({ instance }) => act('provision', instance.id),
      update: ({ instance }) => act('update', instance.id),
      deprovision: ({ instance }) => act('deprovision', instance.id),
      bind: ({ instance }) => {
        act('bind', instance.id)
        return { credentials: { version } }
      },
      unbind: ({ instance }) => act('unbind', instance.id),
    }
  }
  const config = `registry:
  - type: apiv2
    name: team
    url: ${front.url}
    tag: latest
    white_list:
      - ".*-apb$"
    black_list:
      - ".*never-apb$"
    auth_type: file
    auth_name: login.yaml
    fail_on_error: false
bundles: { runtime: container, socket: engine.sock }
store: sqlite:ledger.db
engine: { pollInterval: 50ms, lease: 5s, callTimeout: 2s }
chores: { sync: "-", observe: "-", purge: "-" }
`
  const now = () => {
    if (open === undefined) throw new Error('the broker is not open')
    return open
  }
  const blobOf = (digest: string) => {
    const hex = digest.replace('sha256:', '')
    return join(registry.folder, 'data/docker/registry/v2/blobs/sha256', hex.slice(0, 2), hex, 'data')
  }

  const shop = {
    front,
    clock,
    ran,
    offered,
    instances,
    names,
    push,
    pushed: (name: string): Pushed => pushed.get(name) ?? { manifest: '', config: '' },
    login,
    get broker() {
      return now().broker
    },
    get life() {
      return now().life
    },
    async start() {
      const broker = await openBroker({ folder, config, clock, drive, log })
      open = { broker, life: createLife(broker.client) }
    },
    async stop() {
      if (open !== undefined) answers.push(...open.life.answers)
      await open?.broker.stop()
      open = undefined
    },
    async close() {
      await shop.stop()
      await front.down()
      await registry.stop()
      rmSync(folder, { recursive: true, force: true })
    },
    sync: () => syncNow(now().broker.admin),
    synced: () => endOfSync(now().broker.admin),
    /** How the one registry is, as operators see it. */
    async status(): Promise<RegistryBody | undefined> {
      const { body, text } = await now().broker.admin.registries()
      answers.push(text)
      return body.registries?.find(({ name }) => name === 'team')
    },
    async catalog() {
      const { body, text } = await now().broker.client.catalog()
      answers.push(text)
      return body.services ?? []
    },
    async provision(id: string, name: string, version = '1.0.0') {
      const ended = await now().life.provision(id, idsOf(name))
      expect(ended).toMatchObject({ status: 202, state: 'succeeded' })
      instances.set(id, { name, version })
      expect(ran.at(-1)).toEqual({ action: 'provision', instance: id, version })
    },
    async deprovision(id: string) {
      const { name, version } = instances.get(id) ?? { name: '', version: '' }
      expect(await now().life.deprovision(id, idsOf(name))).toMatchObject({ status: 202, state: 'succeeded' })
      expect(ran.at(-1)).toEqual({ action: 'deprovision', instance: id, version })
      instances.delete(id)
    },
    /** Takes the file of a manifest or a configuration away, or spoils it; answers how to put it back. */
    damage(name: string, part: keyof Pushed, how: 'deleted' | 'garbage'): () => void {
      const file = blobOf(pushed.get(name)?.[part] ?? '')
      const before = readFileSync(file)
      if (how === 'deleted') rmSync(file)
      else writeFileSync(file, Buffer.from(before).fill(0x7b, 10, 40))
      return () => writeFileSync(file, before)
    },
    /** Takes the whole repository out of the registry; answers how to put it back. */
    withdraw(name: string): () => void {
      const path = join(registry.folder, 'data/docker/registry/v2/repositories/apps', name)
      const away = join(registry.folder, `away-${name}`)
      expect(existsSync(path)).toBe(true)
      renameSync(path, away)
      return () => renameSync(away, path)
    },
    /** What holds whatever happened. */
    async expectAllWell(): Promise<void> {
      const services = await shop.catalog()
      expect(services.map(({ name }) => name)).toEqual([...offered].map(name => `team-${name}`).sort())
      for (const name of offered) {
        const service = services.find(({ id }) => id === idsOf(name).service_id)
        expect(service?.name).toBe(`team-${name}`)
        expect(service?.plans.map(({ id }) => id)).toContain(idsOf(name).plan_id)
      }
      await expectPinned(now().broker)
      for (const [id, { name, version }] of instances) {
        const binding = `${id}-${ran.length}`
        expect(await now().life.bind(id, binding, idsOf(name))).toMatchObject({ state: 'succeeded' })
        expect(await now().life.credentials(id, binding)).toEqual({ version })
        expect(await now().life.unbind(id, binding, idsOf(name))).toMatchObject({ state: 'succeeded' })
        expect(ran.slice(-2)).toEqual(['bind', 'unbind'].map(action => ({ action, instance: id, version })))
      }
      await expectPinned(now().broker)
      const told = [...log, ...answers, ...now().life.answers].join('\n')
      for (const secret of [password, basic, 'wr0ng-pass']) expect(told).not.toContain(secret)
    },
  }

  async function expectPinned({ store }: OpenBroker): Promise<void> {
    const uses = await store.revisionUses()
    const stored = await store.catalog()
    const revisions = new Map((stored?.revisions ?? []).map(revision => [revision.id, revision]))
    for (const { revisionId } of uses) expect(revisions.has(revisionId)).toBe(true)
    for (const [id, { name, version }] of instances) {
      const revision = revisions.get((await store.instance(id))?.revisionId ?? '')
      expect(revision).toMatchObject({ fullName: `team-${name}`, bundleVersion: version })
    }
    for (const { revisionId, retiredAt } of stored?.services ?? [])
      if (retiredAt === undefined) expect(revisions.has(revisionId)).toBe(true)
  }

  return shop
}
