/** Kyma's event flow in virtual time, by a seed. */
import { readFileSync } from 'node:fs'
import { createManifestsDriver } from '../../src/driver/manifests/manifests-driver.ts'
import { silent } from '../../src/observer.ts'
import { createRedactor } from '../../src/sensitive/redact.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { startTestBrokerWith } from '../../src/testing/test-broker.ts'
import { asynchronous, revisionOf } from '../kubernetes/manifests-world.ts'
import { createEventLoop } from '../simulation/event-loop.ts'
import { createRandom } from '../simulation/random.ts'
import { createFakeCluster } from './fake-cluster.ts'

const source = readFileSync('samples/kyma-event-flow/bundle/bundle.yml', 'utf8').replace(
  'manifests:\n',
  'manifests:\n  values: { application: shop, displayName: The shop }\n',
)
const { revision, spec } = revisionOf(source)
const namespacePath = '/v1/Namespace/team'
const { id: serviceId, plans } = revision.offering
const ids = { service_id: serviceId, plan_id: plans[0]?.id ?? '' }
const request = {
  ...ids,
  ...{ organization_guid: 'o', space_guid: 's', context: { platform: 'kubernetes', namespace: 'team' } },
}

/** What went wrong, when two instances in one namespace come and go, at random times; calls are late and answers lost. */
export async function runEventFlow(seed: number): Promise<readonly string[]> {
  const { next: random } = createRandom(seed)
  const loop = createEventLoop(Date.UTC(2026, 0, 1))
  const advance = (ms: number) => loop.run(loop.now() + ms)
  const clock = { ...loop, advance, pending: () => 0 }
  const store = createMemoryStore({ clock })
  /** Whose provision has succeeded, and whom nobody has asked to go since. */
  const needing = new Set<string>()
  const lost: string[] = []
  const look = () => {
    const label = fake.live(namespacePath)?.metadata.labels?.['knative-eventing-injection']
    if (needing.size > 0 && label !== 'enabled') lost.push(`seed ${seed}: ${[...needing].join(', ')}`)
  }
  const fake = createFakeCluster({ clock, random, onChange: look })
  fake.put(namespacePath, 'team')
  fake.put('/messaging.knative.dev/v1alpha1/Channel/kyma-integration/shop', 'shop')
  fake.put('/eventing.knative.dev/v1alpha1/Broker/team/default', 'default')
  const drive = createManifestsDriver({
    ...{ open: async () => fake, limits: { namespaces: ['*'], kinds: ['*', 'v1/Namespace'] }, createRedactor },
    ...{ storeNow: () => clock.now(), brokerId: async () => 'sim', kinds: () => [], secretsFor: async () => [] },
  })
  const broker = await startTestBrokerWith({
    ...{ services: [drive(revision, spec)], clock, store, random, observer: silent },
    settings: { engine: { retry: { max: '5s' }, pollInterval: '30s' }, chores: { observe: '-' } },
  })
  const life = async (id: string, rounds: number) => {
    for (let round = 0; round < rounds; round += 1) {
      const wait = Math.floor(random() * 5_000)
      await passed(wait)
      const accepted = await broker.client.provision(id, request, asynchronous)
      const isImpatient = random() < 0.3
      if (isImpatient) await passed(Math.floor(random() * 5_000))
      else if ((await ended(accepted.body.operation)) === 'succeeded') needing.add(id)
      look()
      await passed(Math.floor(random() * 5_000))
      needing.delete(id)
      const gone = await broker.client.deprovision(id, ids, asynchronous)
      if (gone.status === 202) await ended(gone.body.operation)
    }
  }
  const passed = (ms: number) =>
    new Promise<void>(resolve => {
      clock.after(ms, resolve)
    })
  const ended = async (operation: string | null | undefined) => {
    for (;;) {
      const found = await store.operation(operation ?? '')
      if (found?.finishedAt !== undefined) return found.state
      await passed(1_000)
    }
  }
  let over = false
  const lives = Promise.all([life('one', 2), life('two', 1)]).then(() => {
    over = true
  })
  while (!over) await loop.run(loop.now() + 60_000, () => over)
  await lives
  // What landed late is swept.
  await clock.advance(5 * 60_000)
  await broker.stop()
  const left = fake.paths().filter(path => !/Namespace|Channel|Broker/.test(path))
  const labels = Object.keys(fake.live(namespacePath)?.metadata.labels ?? {})
  return [...lost, ...[...left, ...labels].map(what => `seed ${seed}: ${what} is left`)]
}
