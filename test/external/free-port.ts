import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * A port on loopback that was free a moment ago, for a server that cannot choose one itself. It is not one of those that the
 * system gives to connections and to servers that ask for any: another test would often have it by now.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_240, 30_000)
    const probe = createServer().listen(port, '127.0.0.1')
    const isFree = await once(probe, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    probe.close()
    await once(probe, 'close')
    return port
  }
}
