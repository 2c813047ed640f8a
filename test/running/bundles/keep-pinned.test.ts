import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/clock.ts'
import { silent } from '../../../src/observer.ts'
import { type BundleOptions, openBundlesFromOptions } from '../../../src/running/bundles/from-options.ts'
import { openStore } from '../../../src/running/open-store.ts'
import { createContainerRuntime } from '../../../src/sandbox/container/container-runtime.ts'
import type { NotKept, Runtime } from '../../../src/sandbox.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'purser-keep-'))
  chmodSync(folder, 0o755)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const cluster = (keep?: Runtime['keep']): Runtime => ({
  ...createContainerRuntime({ socket: '/nowhere', folder, clock: systemClock }),
  type: 'cluster',
  keep,
})

async function open(options: Omit<BundleOptions, 'registries'>) {
  const store = await openStore('memory:', systemClock)
  const parts = { store, storeNow: systemClock.now, clock: systemClock, observer: silent }
  return openBundlesFromOptions({ runtime: 'auto', folder, exposeFiles: true, registries: [], ...options }, parts)
}

describe('bundles.keepPinned', () => {
  it('is off: nobody is asked to keep anything', async () => {
    const opened = await open({ runtimes: [cluster(() => Promise.reject(new Error('asked')))] })
    expect(opened.keepPinned).toBeUndefined()
  })

  it('is refused where the runtime of images cannot keep any', async () => {
    await expect(open({ keepPinned: true, runtimes: [cluster()] })).rejects.toMatchObject({
      name: 'StartError',
      message: expect.stringContaining('The runtime "cluster", which runs images, has no method "keep".'),
    })
  })

  it('asks the runtime in the name of this broker, until it stops', async () => {
    const stopping = new AbortController()
    const owners: string[] = []
    const runtime: Runtime = {
      ...cluster(),
      async keep(owner): Promise<readonly NotKept[]> {
        owners.push(`${this.type} ${owner}`)
        stopping.abort()
        return []
      },
    }
    const opened = await open({ keepPinned: true, runtimes: [runtime] })
    await opened.onCatalog([])
    await opened.keepPinned?.(stopping.signal)
    expect(owners).toEqual([expect.stringMatching(/^cluster [\w-]{16}$/)])
  })
})
