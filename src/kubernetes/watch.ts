import type { Readable } from 'node:stream'
import { sleep } from '../clock.ts'
import { messageOf } from '../shape/thrown.ts'
import type { Cluster } from './cluster.ts'
import { isStatus } from './errors.ts'
import { listAll } from './list.ts'
import type { KubernetesObject } from './objects.ts'

export interface Watcher<Item> {
  /** Everything there is; at the start, and whenever something may have been missed. What is not in it is gone. */
  onList(items: readonly Item[]): void
  onChange(item: Item): void
  onGone(item: Item): void
  /** The cluster does not answer, or refuses; it is asked again, ever more seldom. */
  onTrouble?(error: unknown): void
}

export interface Watched {
  readonly path: string
  readonly labels?: string | undefined
  /** Such as `metadata.name=one`. */
  readonly fields?: string | undefined
  readonly signal: AbortSignal
}

/** The server ends a watch by itself after so long, and says now and then that nothing has happened. */
const timeoutSeconds = 240
/** A connection that is silent for longer is dead. */
const deadAfter = 120_000
const longestPause = 30_000

/**
 * Tells of all that happens to the objects of a list, until the signal is aborted: through closed connections (it goes on
 * where it was), expired versions (410: it lists anew) and a cluster that is away for a while.
 */
export async function watchObjects<Item extends KubernetesObject>(
  cluster: Cluster,
  watched: Watched,
  watcher: Watcher<Item>,
): Promise<void> {
  const { path, labels, fields, signal } = watched
  let version: string | undefined
  let failures = 0
  while (!signal.aborted) {
    try {
      if (version === undefined) {
        const listed: { readonly items: readonly Item[]; readonly version: string } = await listAll<Item>(
          cluster,
          path,
          {
            labels,
            fields,
            signal,
          },
        )
        version = listed.version
        watcher.onList(listed.items)
      }
      const since = cluster.clock.now()
      version = await follow(cluster, watched, version, watcher)
      // One that is closed at once, again and again, is not asked without end either.
      failures = cluster.clock.now() - since > 1_000 ? 0 : failures + 1
    } catch (error) {
      if (signal.aborted) return
      failures += 1
      // What is not there any more has to be listed anew; so has whatever we cannot tell.
      version = undefined
      if (!isStatus(error, 410)) watcher.onTrouble?.(error)
    }
    if (failures > 0)
      await sleep(cluster.clock, Math.min(longestPause, 250 * 2 ** Math.min(failures, 10)) * Math.random(), signal)
  }
}

interface Event<Item> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: Item
}

/** Until the connection ends; answers where to go on. */
async function follow<Item extends KubernetesObject>(
  cluster: Cluster,
  { path, labels, fields, signal }: Watched,
  from: string,
  watcher: Watcher<Item>,
): Promise<string | undefined> {
  let version: string | undefined = from
  const query = {
    watch: true,
    labelSelector: labels,
    fieldSelector: fields,
    resourceVersion: from,
    allowWatchBookmarks: true,
    timeoutSeconds,
  }
  const answer = await cluster.stream(path, { query, signal, patience: deadAfter })
  try {
    for await (const line of linesOf(answer)) {
      const event = readEvent<Item>(line)
      // Cut off in the middle, or expired: what is known now is all that is known.
      if (event === undefined) break
      if (event.type === 'ERROR') return undefined
      version = event.object.metadata.resourceVersion ?? version
      if (event.type === 'DELETED') watcher.onGone(event.object)
      else if (event.type !== 'BOOKMARK') watcher.onChange(event.object)
    }
  } catch (error) {
    if (!signal.aborted) watcher.onTrouble?.(new Error(`a watch broke off: ${messageOf(error)}`, { cause: error }))
  } finally {
    answer.destroy()
  }
  return version
}

async function* linesOf(stream: Readable): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of stream.setEncoding('utf8')) {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

function readEvent<Item>(line: string): Event<Item> | undefined {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
