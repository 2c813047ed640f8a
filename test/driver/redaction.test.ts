import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { inspect } from 'node:util'
/** Canaries: no secret that an action is given, or makes, can be read where people look. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { observeAll } from '../../src/observer/log.ts'
import { isJsonObject, type Json } from '../../src/protocol/json.ts'
import type { Step } from '../../src/store.ts'
import { asynchronous, idsOf, place, useWorlds } from './world.ts'

const open = useWorlds()

const canaries = [
  'canary-parameter',
  'canary-operator',
  'canary-pin',
  'canary-provision',
  'canary-bind',
  '4711471',
  'canary-state',
  'canary-list',
  'canary-binding-state',
]

/** Says everything that it knows everywhere, and fails where it is told to. */
const script = `
told="$(cat "$BUNDLE_INPUT" "\${3#@}")"
case "$1" in
  provision)
    echo '{"password":"canary-provision","port":4711471}' > "$BUNDLE_OUTPUT/credentials.json"
    echo '{"root":"canary-state","list":["canary-list"]}' > "$BUNDLE_OUTPUT/state.json";;
  bind)
    echo '{"deep":[{"password":"canary-bind"}]}' > "$BUNDLE_OUTPUT/credentials.json"
    echo '{"user":"canary-binding-state"}' > "$BUNDLE_OUTPUT/binding_state.json";;
esac
made="$(cd "$BUNDLE_OUTPUT" && cat credentials.json state.json binding_state.json 2>/dev/null)"
made="$made $(cat "$BUNDLE_STATE"/* "\${BUNDLE_BINDING_STATE:-none}"/* 2>/dev/null) $(grep -oh 'canary[a-z-]*' "$BUNDLE_STATE"/* "$BUNDLE_OUTPUT"/state.json 2>/dev/null)"
echo "$told $made"; echo "$told $made" | base64 -w0 >&2
echo "made $made, told $(echo "$told" | tr '\\n' ' ')" > "$BUNDLE_OUTPUT/progress"
echo "made $made $(echo "$told" | head -c 2500)" > "$BUNDLE_OUTPUT/message"
[ "$1" != update ] && [ "$1" != unbind ]`

describe('secrets', () => {
  it('are in no log, description, history or error', async () => {
    const seen: string[] = []
    const observer = observeAll((_type, event) => seen.push(inspect(event, { depth: 9 })))
    const world = await open({
      script,
      quick: true,
      observer,
      parts: { secretsFor: async () => [{ name: 'one', entries: { token: 'canary-operator' } }] },
    })
    const { client } = await world.start()
    const ids = idsOf(world)
    const parameters = { password: 'canary-parameter' }
    const provisioned = await world.ended(await client.provision('i', { ...ids, ...place, parameters }, asynchronous))
    // The other actions need it, so its reason is told here.
    expect(provisioned, seen.filter(text => text.includes('rror')).join('\n')).toMatchObject({ state: 'succeeded' })
    const operations = [
      provisioned,
      await world.ended(await client.bind('i', 'b', { ...ids, parameters: { pin: 'canary-pin' } }, asynchronous)),
      await world.ended(
        await client.update('i', { service_id: ids.service_id, parameters: { size: 9 } }, asynchronous),
      ),
      await world.ended(await client.unbind('i', 'b', ids, asynchronous)),
    ]
    expect(operations.map(({ state }) => state)).toEqual(['succeeded', 'succeeded', 'failed', 'failed'])
    for (const operation of operations) {
      seen.push(JSON.stringify({ ...operation, input: undefined }))
      for (const step of await world.store.steps(operation.id)) seen.push(readable(step))
    }
    seen.push(JSON.stringify(await world.store.history('i')))
    for (const query of ['lastOperation', 'fetchInstance'] as const)
      seen.push(JSON.stringify((await client[query]('i')).body))
    const all = seen.join('\n')
    expect(all).toContain('[redacted]')
    expect(all).toContain('made {')
    for (const canary of canaries) expect(all).not.toContain(canary)
    // What the bundle has printed is kept, but for the secrets.
    expect(seen.some(text => text.includes('"log":"{\\"action\\":\\"provision\\"'))).toBe(true)
  })
})

describe('while a bundle runs', () => {
  it('no process of the machine has a secret in its arguments or variables, and its files are for its user only', async () => {
    const world = await open({
      // The variables of the broker are its own.
      script: `env > "$out/env"; echo running > "$out/running"; until [ -e "$out/go" ]; do sleep 0.05; done; exit 0`,
      parts: { secretsFor: async () => [{ name: 'one', entries: { token: 'canary-operator' } }] },
    })
    process.env.PURSER_CANARY = 'canary-of-the-broker'
    onTestFinished(() => void delete process.env.PURSER_CANARY)
    const { client } = await world.start()
    const parameters = { password: 'canary-parameter', size: 4 }
    const accepted = await client.provision('i', { ...idsOf(world), ...place, parameters }, asynchronous)
    await world.until(() => world.lines('running').length > 0)
    expect(holders(['canary-operator', 'canary-parameter'])).toEqual([])
    expect(world.lines('env').join()).not.toContain('canary')
    const { folder } = world
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(name => join(folder, name))
    const holding = files.filter(file => statSync(file).isFile() && readFileSync(file, 'utf8').includes('canary-'))
    expect(holding.length).toBeGreaterThan(0)
    for (const file of holding) expect(isClosed(file, folder), file).toBe(true)
    world.touch('go')
    expect((await world.ended(accepted)).state).toBe('succeeded')
    // They go with the sandbox.
    await world.until(() => holding.every(file => !existsSync(file)))
  })
})

/** The processes that hold one of the texts, but for this one. */
function holders(texts: readonly string[]): readonly string[] {
  const files = readdirSync('/proc').flatMap(pid =>
    /^\d+$/.test(pid) && pid !== String(process.pid) ? [`/proc/${pid}/cmdline`, `/proc/${pid}/environ`] : [],
  )
  return files.filter(file => {
    try {
      const text = readFileSync(file, 'utf8')
      return texts.some(each => text.includes(each))
    } catch {
      return false
    }
  })
}

/** Whether other users are kept out of the file itself, or of a folder that it is in. */
function isClosed(file: string, top: string): boolean {
  for (let path = file; path.startsWith(top); path = dirname(path)) if ((statSync(path).mode & 0o007) === 0) return true
  return false
}

/** A step as operators may be shown it: its outputs are sealed where they are credentials or state. */
function readable({ name, error, output, shown }: Step): string {
  const value = (output ?? {}) as Json
  if (!isJsonObject(value) || !isJsonObject(value.outputs)) return JSON.stringify({ name, error, output })
  const { message, progress, problems } = value.outputs
  return JSON.stringify({ name, error, ...shown, message, progress, problems })
}
