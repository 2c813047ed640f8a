import type { Store } from '../store.ts'

/**
 * A place where a process can die: before or after one call to the outside. The engine waits for nothing but the ledger,
 * the author's calls and timers, so these points are every place where a crash can make a difference.
 */
export interface CrashPoint {
  /** The ledger's method, or the name that a test gave to a call of its own. */
  readonly call: string
  readonly when: 'before' | 'after'
  /** Counts the points from 1 in the order in which they are passed. */
  readonly number: number
}

export interface CrashPoints {
  /** The same store; every call of it passes a point before and one after. */
  wrap(store: Store): Store
  /** Passes the two points around a call of the caller's own, such as one to a backend. */
  around<T>(call: string, run: () => T | Promise<T>): Promise<T>
  passed(): number
}

/**
 * Calls back at every point, synchronously. A process that is to die at the nth:
 *
 *     createCrashPoints(point => { if (point.number === n) process.kill(process.pid, 'SIGKILL') })
 */
export function createCrashPoints(onPoint: (point: CrashPoint) => void): CrashPoints {
  return createPoints(onPoint, () => false)
}

/** A store through which a test can end the process that uses it, without ending its own. */
export interface CrashableStore extends Omit<CrashPoints, 'wrap'> {
  /** What the process gets: after the crash nothing that it had under way comes back, and nothing it does later arrives. */
  readonly store: Store
  readonly crashed: Promise<void>
  isCrashed(): boolean
  /** Dies now. */
  crash(): void
  /** Dies at this point, counted as `CrashPoint.number` is; undefined: does not die by itself. */
  crashAt(number: number | undefined): void
}

export function createCrashableStore(store: Store, onPoint: (point: CrashPoint) => void = () => {}): CrashableStore {
  let fatal: number | undefined
  let dead = false
  let tell = () => {}
  const crashed = new Promise<void>(resolve => {
    tell = resolve
  })
  const crash = () => {
    dead = true
    tell()
  }
  const { wrap, ...points } = createPoints(
    point => {
      onPoint(point)
      if (point.number === fatal) crash()
    },
    () => dead,
  )
  return {
    ...points,
    store: wrap(store),
    crashed,
    isCrashed: () => dead,
    crash,
    crashAt(number) {
      fatal = number
    },
  }
}

function createPoints(onPoint: (point: CrashPoint) => void, isDead: () => boolean): CrashPoints {
  let number = 0
  const pass = (call: string, when: CrashPoint['when']) => {
    if (isDead()) return
    number += 1
    onPoint({ call, when, number })
  }
  async function around<T>(call: string, run: () => T | Promise<T>): Promise<T> {
    pass(call, 'before')
    if (isDead()) return never()
    try {
      const result = await run()
      pass(call, 'after')
      return isDead() ? never() : result
    } catch (error) {
      pass(call, 'after')
      if (isDead()) return never()
      throw error
    }
  }
  return { around, wrap: store => wrapStore(store, around, isDead), passed: () => number }
}

function wrapStore(store: Store, around: CrashPoints['around'], isDead: () => boolean): Store {
  return {
    name: store.name,
    accept: (target, decide, taker) => around('accept', () => store.accept(target, decide, taker)),
    claim: (owner, max, leaseTime, leftOut) => around('claim', () => store.claim(owner, max, leaseTime, leftOut)),
    renew: (leases, leaseTime) => around('renew', () => store.renew(leases, leaseTime)),
    checkpoint: (lease, checkpoint) => around('checkpoint', () => store.checkpoint(lease, checkpoint)),
    park: (lease, parking) => around('park', () => store.park(lease, parking)),
    finish: (lease, decide) => around('finish', () => store.finish(lease, decide)),
    handBack: lease => around('handBack', () => store.handBack(lease)),
    share: (lease, key, wish) => around('share', () => store.share(lease, key, wish)),
    takeName: taking => around('takeName', () => store.takeName(taking)),
    renewName: (name, owner) => around('renewName', () => store.renewName(name, owner)),
    releaseName: (name, owner) => around('releaseName', () => store.releaseName(name, owner)),
    instance: id => around('instance', () => store.instance(id)),
    binding: (instanceId, id) => around('binding', () => store.binding(instanceId, id)),
    bindings: instanceId => around('bindings', () => store.bindings(instanceId)),
    claimants: (key, most) => around('claimants', () => store.claimants(key, most)),
    operation: id => around('operation', () => store.operation(id)),
    steps: operationId => around('steps', () => store.steps(operationId)),
    dueForExpiry: max => around('dueForExpiry', () => store.dueForExpiry(max)),
    dueForObservation: max => around('dueForObservation', () => store.dueForObservation(max)),
    history: instanceId => around('history', () => store.history(instanceId)),
    backlog: (most, leftOut) => around('backlog', () => store.backlog(most, leftOut)),
    platforms: () => around('platforms', () => store.platforms()),
    platformUse: platform => around('platformUse', () => store.platformUse(platform)),
    instanceCounts: () => around('instanceCounts', () => store.instanceCounts()),
    failures: most => around('failures', () => store.failures(most)),
    survey: endedSince => around('survey', () => store.survey(endedSince)),
    listActs: query => around('listActs', () => store.listActs(query)),
    listInstances: query => around('listInstances', () => store.listInstances(query)),
    listBindings: query => around('listBindings', () => store.listBindings(query)),
    listOperations: query => around('listOperations', () => store.listOperations(query)),
    takeChore: taking => around('takeChore', () => store.takeChore(taking)),
    renewChore: (lease, leaseTime) => around('renewChore', () => store.renewChore(lease, leaseTime)),
    finishChore: (lease, result) => around('finishChore', () => store.finishChore(lease, result)),
    chores: () => around('chores', () => store.chores()),
    putBulletin: bulletin => around('putBulletin', () => store.putBulletin(bulletin)),
    bulletins: kind => around('bulletins', () => store.bulletins(kind)),
    cleanUp: cleanUp => around('cleanUp', () => store.cleanUp(cleanUp)),
    purge: (before, max) => around('purge', () => store.purge(before, max)),
    note: (kind, id) => around('note', () => store.note(kind, id)),
    notes: (kind, query) => around('notes', () => store.notes(kind, query)),
    writeNotes: writes => around('writeNotes', () => store.writeNotes(writes)),
    forgetNotes: max => around('forgetNotes', () => store.forgetNotes(max)),
    catalog: known => around('catalog', () => store.catalog(known)),
    registries: () => around('registries', () => store.registries()),
    revisionUses: () => around('revisionUses', () => store.revisionUses()),
    changeCatalog: (version, changes, report) =>
      around('changeCatalog', () => store.changeCatalog(version, changes, report)),
    ping: () => around('ping', () => store.ping()),
    onWakeUp: listener =>
      store.onWakeUp(wakeUp => {
        if (!isDead()) listener(wakeUp)
      }),
    close: () => (isDead() ? never() : store.close()),
  }
}

/** What a dead process waits for. */
function never(): Promise<never> {
  return new Promise(() => {})
}
