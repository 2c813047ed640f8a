import { type Clock, sleep } from '../../clock.ts'
import type { Cluster } from '../../kubernetes/cluster.ts'
import { watchObjects } from '../../kubernetes/watch.ts'

/** What has not come by then is found on schedule. */
const longest = 3_600_000

interface Awaited {
  readonly cluster: Cluster
  readonly clock: Clock
  /** Of all of its kind, where it was. */
  readonly path: string
  readonly name: string
}

/** Whether there is an object of that name again, by a watch of this one alone. */
export async function untilThere({ cluster, clock, path, name }: Awaited, stopping: AbortSignal): Promise<boolean> {
  const over = new AbortController()
  const signal = AbortSignal.any([stopping, over.signal])
  let isThere = false
  const found = () => {
    isThere = true
    over.abort()
  }
  void sleep(clock, longest, signal).then(() => over.abort())
  await watchObjects(
    cluster,
    { path, fields: `metadata.name=${name}`, signal },
    {
      onList(items) {
        if (items.length > 0) found()
      },
      onChange: found,
      onGone() {},
    },
  )
  return isThere
}
