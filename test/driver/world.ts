/** A broker with one bundle, a shell script, in real sandboxes; the broker's time is virtual, the bundle's is real. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { fullName, serviceIdOf } from '../../src/bundle/names.ts'
import { type BundleSpec, parseBundleSpec } from '../../src/bundle/spec.ts'
import { toOffering } from '../../src/bundle/to-offering.ts'
import type { OsbResponse } from '../../src/client/index.ts'
import { sleep, systemClock } from '../../src/clock.ts'
import { type FoundBundle, type Revision, revisionIdOf } from '../../src/domain/revision.ts'
import { createBundleDriver } from '../../src/driver/bundle/bundle-driver.ts'
import type { BundleParts } from '../../src/driver/bundle/parts.ts'
import { type Observer, silent } from '../../src/observer.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { findContainment } from '../../src/sandbox/process/containment.ts'
import type { Runtime, SandboxProgram } from '../../src/sandbox.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import type { Operation, Store } from '../../src/store.ts'
import { startTestBrokerWith, type TestBroker, type TestBrokerOptions } from '../../src/testing/test-broker.ts'
import { createVirtualClock, type VirtualClock } from '../../src/testing/virtual-clock.ts'
import { type Bundled, bundle } from '../sandbox/bundled.ts'
import { createProcessSubject, type ProcessSubject } from '../sandbox/process-subject.ts'

const supervisor = 'src/sandbox/process/supervisor.ts'
const containment = await findContainment()

export const spec = `
version: 1.0
name: shell
description: A bundle of a few lines
bindable: true
async: optional
bundleVersion: 1.2.0
plans:
  - name: small
    description: small
    free: true
    updates_to: [large]
    parameters: &parameters
      - { name: size, type: int, default: 3, updatable: true }
      - { name: password, type: string, sensitive: true, updatable: true }
    bind_parameters: &bindParameters
      - { name: role, type: string, default: reader }
      - { name: pin, type: string, sensitive: true }
  - name: large
    description: large
    free: true
    parameters: *parameters
    bind_parameters: *bindParameters
`

export interface WorldOptions {
  /** What the bundle does; `$out` is a folder outside of its sandbox. */
  readonly script: string
  readonly spec?: string
  readonly parts?: Partial<BundleParts>
  readonly observer?: Observer
  readonly settings?: TestBrokerOptions['settings']
  /** The bundle ends without anybody's help: the broker's time stands still while it runs. */
  readonly quick?: boolean
}

/** One process of the broker. Each host has a runtime of its own. */
export interface Replica {
  readonly host?: string
  readonly store?: Store
  readonly parts?: Partial<BundleParts>
  /** Zero: it takes requests and does none of the work. */
  readonly concurrency?: number
  /** What stands between the driver and the real runtime. */
  wrap?(runtime: Runtime): Runtime
}

export interface World {
  readonly clock: VirtualClock
  readonly store: Store
  readonly revision: Revision
  start(replica?: Replica): Promise<TestBroker>
  runtimeOf(host?: string): Promise<Runtime>
  /** Where the runtime keeps its sandboxes. */
  readonly folder: string
  /** Asks until there is an answer, while both times pass. */
  until<T>(ask: () => Promise<T | undefined | false> | T | undefined | false): Promise<T>
  /** The operation that an answer speaks of, when it has ended. */
  ended(answer: OsbResponse<{ readonly operation?: string | null }>): Promise<Operation>
  /** The lines that the bundle has appended to a file in `$out`. */
  lines(file: string): readonly string[]
  json(file: string): JsonObject
  /** Makes an empty file in `$out`. */
  touch(file: string): void
}

const long = 10 * 24 * 3_600_000
/** Virtual time passes fast: where it is no matter of the test, none of it is too long. */
export const patient = { provision: long, update: long, deprovision: long, bind: long, unbind: long }

export const place = { organization_guid: 'org', space_guid: 'space' }
export const asynchronous = { acceptsIncomplete: true }

/** Opens worlds for the tests of a file, which end with their test. */
export function useWorlds(): (options: WorldOptions) => Promise<World> {
  let bundled: Bundled
  beforeAll(async () => {
    bundled = await bundle(supervisor)
  })
  afterAll(() => bundled.remove())
  return async options => {
    const { world, destroy } = await createWorld(bundled.command(supervisor), options)
    onTestFinished(destroy)
    return world
  }
}

async function createWorld(command: readonly string[], options: WorldOptions) {
  const out = mkdtempSync(join(tmpdir(), 'purser-driver-'))
  chmodSync(out, 0o777)
  const subjects = new Map<string, ProcessSubject>()
  const subjectOf = (host: string) => {
    const subject = subjects.get(host) ?? createProcessSubject(command, containment)
    subjects.set(host, subject)
    return subject
  }
  const program = await subjectOf('here').program(`out=${out}\n${options.script}`)
  const clock = createVirtualClock()
  const memory = createMemoryStore({ clock })
  const { revision, spec: bundleSpec } = revisionOf(options.spec ?? spec)
  const brokers: TestBroker[] = []
  const calls = { underWay: 0 }

  async function start(replica: Replica = {}): Promise<TestBroker> {
    const { host = 'here', store = memory, wrap = same => same } = replica
    const runtime = wrap(counted(await subjectOf(host).open(), calls, options.quick === true))
    const parts: BundleParts = {
      ...defaultParts(clock, program, options.observer ?? silent),
      runtimes: [runtime],
      host,
      ...options.parts,
      ...replica.parts,
    }
    const broker = await startTestBrokerWith(
      {
        services: [createBundleDriver(parts)(revision, bundleSpec)],
        clock,
        store,
        random: () => 0.5,
        observer: options.observer ?? silent,
        settings: { engine: { timeouts: patient }, ...options.settings },
      },
      { concurrency: replica.concurrency },
    )
    // A dead process is not stopped.
    if (store === memory) brokers.push(broker)
    return broker
  }

  async function until<T>(ask: () => Promise<T | undefined | false> | T | undefined | false): Promise<T> {
    for (;;) {
      const answer = await ask()
      if (answer !== undefined && answer !== false) return answer
      // A call is not late because the machine is slow.
      if (calls.underWay === 0) await clock.advance(options.quick === true ? 10_000 : 1_000)
      await sleep(systemClock, 5)
    }
  }

  const world: World = {
    clock,
    store: memory,
    revision,
    start,
    runtimeOf: (host = 'here') => subjectOf(host).open(),
    folder: subjectOf('here').folder,
    until,
    ended: answer =>
      until(async () => {
        const operation = await memory.operation(answer.body.operation ?? '')
        if (operation === undefined) throw new Error(`no operation: ${JSON.stringify(answer.body)}`)
        return operation.finishedAt === undefined ? undefined : operation
      }),
    lines: file => (existsSync(join(out, file)) ? readFileSync(join(out, file), 'utf8').trim().split('\n') : []),
    json: file => JSON.parse(readFileSync(join(out, file), 'utf8')),
    touch: file => writeFileSync(join(out, file), ''),
  }
  return {
    world,
    async destroy() {
      for (const each of brokers) await each.stop()
      for (const subject of subjects.values()) await subject.destroy()
      rmSync(out, { recursive: true, force: true })
    },
  }
}

/** Counts the calls that are to be answered at once: a wait is one when it was given up, or has to end by itself. */
function counted(runtime: Runtime, calls: { underWay: number }, quick: boolean): Runtime {
  const count = async <T>(call: () => Promise<T>): Promise<T> => {
    calls.underWay += 1
    try {
      return await call()
    } finally {
      calls.underWay -= 1
    }
  }
  return {
    ...runtime,
    prepare: (program, signal) => count(() => runtime.prepare(program, signal)),
    start: wanted => count(() => runtime.start(wanted)),
    status: name => count(() => runtime.status(name)),
    wait(name, signal) {
      if (quick) return count(() => runtime.wait(name, signal))
      const waited = runtime.wait(name, signal)
      signal.addEventListener('abort', () => void count(() => waited).catch(() => {}), { once: true })
      return waited
    },
    progress: (name, secrets) => count(() => runtime.progress(name, secrets)),
    collect: (name, secrets) => count(() => runtime.collect(name, secrets)),
    remove: name => count(() => runtime.remove(name)),
  }
}

function defaultParts(
  clock: VirtualClock,
  program: SandboxProgram,
  observer: Observer,
): Omit<BundleParts, 'runtimes' | 'host'> {
  return {
    programFor: async () => program,
    clock,
    storeNow: () => clock.now(),
    limits: { time: long },
    network: 'allowed',
    env: {},
    helpers: {},
    secretsFor: async () => [],
    keepOnError: false,
    brokerLabel: 'test',
    observer,
  }
}

function revisionOf(source: string): { readonly revision: Revision; readonly spec: BundleSpec } {
  const { spec, problems } = parseBundleSpec(source, 'bundle.yml')
  if (spec === undefined) throw new Error(JSON.stringify(problems))
  const name = fullName('test', spec.name)
  const found: FoundBundle = { name: 'shell', image: '/bundle', tag: '', digest: 'd', source, runtime: 2 }
  const revision = {
    ...found,
    id: revisionIdOf('test', name, found),
    serviceId: serviceIdOf(name),
    fullName: name,
    registry: 'test',
    foundAs: 'shell',
    bundleVersion: spec.bundleVersion,
    offering: toOffering(spec, { registry: 'test' }),
    firstSeenAt: 0,
  }
  return { revision, spec }
}

/** The ids that requests name. */
export function idsOf({ revision }: Pick<World, 'revision'>, planName = 'small') {
  const plan = revision.offering.plans.find(({ name }) => name === planName)
  if (plan === undefined) throw new Error(`no plan ${planName}`)
  return { service_id: revision.serviceId, plan_id: plan.id }
}
