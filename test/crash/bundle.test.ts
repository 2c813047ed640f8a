import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { fullName, planIdOf, serviceIdOf } from '../../src/bundle/names.ts'
import type { OsbClient } from '../../src/client/index.ts'
import { systemClock } from '../../src/clock.ts'
import { createProcessRuntime } from '../../src/sandbox/process/process-runtime.ts'
import { type Bundled, bundle } from '../sandbox/bundled.ts'
import { bundleUser, survivors } from '../sandbox/process-subject.ts'
import { Platform } from './platform.ts'

const name = fullName('local', 'crash')
const ids = { service_id: serviceIdOf(name), plan_id: planIdOf(name, 'only') }
const incomplete = { acceptsIncomplete: true } as const
/** All points in the long run; otherwise every thirteenth, so that each kind of point has its turn. */
const stride = process.env.PURSER_TEST_LONG === '1' ? 1 : 13

const spec = `version: 1.0
name: crash
description: notes that it ran
bindable: true
async: optional
plans:
  - { name: only, description: the only one, free: true }
`

let scripts: Bundled
beforeAll(async () => {
  scripts = await bundle('test/crash/bundle-child.ts', 'src/sandbox/process/supervisor.ts')
})
afterAll(() => scripts.remove())

function createPlatform(): Platform {
  const folder = mkdtempSync(join(tmpdir(), 'purser-bc-'))
  chmodSync(folder, 0o755)
  const notes = join(folder, 'ran.log')
  appendFileSync(notes, '')
  chmodSync(notes, 0o666)
  const files = join(folder, 'bundles', 'crash')
  mkdirSync(files, { recursive: true })
  writeFileSync(join(files, 'bundle.yml'), spec)
  const script = `#!/bin/sh\necho "$1 $(grep -o '"instance":{"id":"[^"]*' "$BUNDLE_INPUT" | cut -d'"' -f6)" >> ${notes}\nsleep 0.1\necho '{"user":"me"}' > "$BUNDLE_OUTPUT/credentials.json"\n`
  writeFileSync(join(files, 'entrypoint.sh'), script, { mode: 0o755 })
  const file = scripts.file('test/crash/bundle-child.ts')
  const supervisor = JSON.stringify(scripts.command('src/sandbox/process/supervisor.ts'))
  return new Platform(folder, { file, args: [supervisor] })
}

const pollOf = (id: string) => (client: OsbClient, operation: string) => client.lastOperation(id, { operation })
const pollBindingOf = (id: string) => (client: OsbClient, operation: string) =>
  client.lastBindingOperation(id, 'b', { operation })

async function life(platform: Platform, id: string): Promise<void> {
  const done = [200, 201, 'succeeded']
  expect(done).toContain(await platform.ask(client => client.provision(id, ids, incomplete), pollOf(id), [200, 201]))
  const bound = platform.ask(client => client.bind(id, 'b', ids, incomplete), pollBindingOf(id), [200, 201])
  expect(done).toContain(await bound)
  const unbound = platform.ask(client => client.unbind(id, 'b', ids, incomplete), pollBindingOf(id), [410])
  expect([410, 'succeeded']).toContain(await unbound)
  const gone = await platform.ask(client => client.deprovision(id, ids, incomplete), pollOf(id), [410])
  expect([410, 'succeeded']).toContain(gone)
}

describe('SIGKILL', () => {
  it('at every point of a bundle run: the bundle ran once, its outcome is known, no sandbox is left', async ({
    onTestFinished,
  }) => {
    const platform = createPlatform()
    const { folder } = platform
    onTestFinished(async () => {
      await platform.kill()
      rmSync(folder, { recursive: true, force: true })
    })
    await life(platform, 'dry')
    const points = await platform.crashIn(undefined)
    expect(points.length).toBeGreaterThan(40)
    expect(new Set(points)).toContain('after start')

    for (let point = 1; point <= points.length; point += stride) {
      const id = `at-${point}`
      await platform.crashIn(point)
      await life(platform, id).catch(cause => {
        throw new Error(`killed at point ${point}, ${points[point - 1]}`, { cause })
      })
      await platform.kill()
      const ran = readFileSync(join(folder, 'ran.log'), 'utf8')
        .split('\n')
        .filter(line => line.endsWith(` ${id}`))
      expect(ran, `killed at point ${point}, ${points[point - 1]}`).toEqual(
        ['provision', 'bind', 'unbind', 'deprovision'].map(action => `${action} ${id}`),
      )
    }
    expect(platform.crashes).toBeGreaterThan(points.length / stride / 2)
    const runtime = await createProcessRuntime({ folder: join(folder, 's'), clock: systemClock, ...bundleUser })
    expect(await runtime.list()).toEqual([])
    // A supervisor has told the end before it is gone itself.
    await vi.waitFor(() => expect(survivors(folder)).toBe(0), { timeout: 60_000 })
    expect(existsSync(join(folder, 'ledger.db'))).toBe(true)
  })
})
