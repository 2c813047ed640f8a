import { type Cluster, type Replica, replicaCount } from './cluster.ts'
import type { Database } from './databases.ts'
import type { Random } from './random.ts'

export type Fault = 'kill' | 'pause' | 'stop' | 'crash database' | 'terminate' | 'cut' | 'freeze'

export interface Blow {
  readonly fault: Fault
  /** Since the blow before it. */
  readonly afterMs: number
  readonly replica: number
  /** How long what lasts does. */
  readonly forMs: number
}

/** What will happen, from the seed alone. */
export function planBlows(random: Random, durationMs: number, leaseMs: number): readonly Blow[] {
  const blows: Blow[] = []
  let sinceCrash = 0
  for (let at = 0; at < durationMs; ) {
    const afterMs = random.int(300, 2_200)
    at += afterMs
    sinceCrash += afterMs
    const drawn = random.weighted<Fault>([
      [6, 'kill'],
      [6, 'pause'],
      [2, 'stop'],
      // It takes a while to come back, and nothing else can be seen meanwhile.
      [sinceCrash > 8_000 ? 6 : 0, 'crash database'],
      [2, 'terminate'],
      [3, 'cut'],
      [4, 'freeze'],
    ])
    const fault = sinceCrash > 15_000 ? 'crash database' : drawn
    if (fault === 'crash database') sinceCrash = 0
    const forMs = Math.round(leaseMs * (0.5 + random.next()))
    blows.push({ fault, afterMs, replica: random.int(0, replicaCount - 1), forMs })
  }
  return blows
}

/**
 * Strikes in the order of the plan, until its end or that of the time: a database that comes back slowly takes of it. What
 * lasts goes on beside the blows that follow; in the end everything has passed. Answers those that fell.
 */
export async function strike(
  blows: readonly Blow[],
  cluster: Cluster,
  database: Database,
  isOver: () => boolean,
): Promise<readonly Blow[]> {
  const struck: Blow[] = []
  const lasting: Promise<void>[] = []
  for (const blow of blows) {
    await pause(blow.afterMs)
    if (isOver()) break
    struck.push(blow)
    const replica = cluster.replicas[blow.replica]
    if (replica === undefined) throw new Error(`there is no replica ${blow.replica}`)
    if (blow.fault === 'crash database') await database.crash()
    else if (blow.fault === 'terminate') await database.terminate()
    else lasting.push(strikeReplica(blow, replica))
  }
  await Promise.all(lasting)
  return struck
}

async function strikeReplica({ fault, forMs }: Blow, replica: Replica): Promise<void> {
  if (fault === 'kill') replica.signal('SIGKILL')
  if (fault === 'stop') replica.signal('SIGTERM')
  if (fault === 'cut') replica.network.cut()
  if (fault === 'pause') {
    replica.signal('SIGSTOP')
    await pause(forMs)
    replica.signal('SIGCONT')
  }
  if (fault === 'freeze') {
    replica.network.freeze()
    await pause(forMs)
    replica.network.thaw()
  }
}

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
