/**
 * What every registry must do, as data: a test runner of any kind makes a subject for each case and runs it.
 *
 *     for (const { name, run } of registryContract) it(name, async () => { … await run(subject) … })
 *
 * A case that needs something is to be skipped where the subject does not have it.
 */
import { strict as assert } from 'node:assert'
import { sleep, systemClock } from '../clock.ts'
import type { FoundBundle } from '../domain/revision.ts'
import { revisionIdOf } from '../domain/revision.ts'
import type { Registry, RegistryAnswer } from '../registry.ts'

/** A place that bundles come from, empty at first. Each case gets one of its own. */
export interface RegistrySubject {
  /** Makes the place hold exactly these bundles, by name. Another number is another content of the bundle. */
  put(bundles: Readonly<Record<string, number>>): Promise<void>
  /** A registry on the place. With `only`, it offers the bundles whose names match. */
  open(only?: RegExp): Registry
  /** From now on this one bundle cannot be read. Absent where a registry gets all of them in one piece. */
  spoil?(name: string): Promise<void>
  /** `gone`: nothing answers any more. `garbage`: what answers makes no sense. `back`: it is as it was. */
  turn(state: 'gone' | 'garbage' | 'back'): Promise<void>
  /** From now on the place takes requests and never answers. Absent where that cannot be. */
  stall?(): Promise<void>
  /** Passwords and tokens that the registry was given. */
  readonly secrets: readonly string[]
  destroy(): Promise<void>
}

export interface RegistryCase {
  readonly name: string
  /** What the subject must have for it. */
  readonly needs?: 'spoil' | 'stall'
  run(subject: RegistrySubject): Promise<void>
}

type List = (registry?: Registry, signal?: AbortSignal) => Promise<RegistryAnswer>

function registryCase(
  name: string,
  body: (list: List, subject: RegistrySubject) => Promise<void>,
  needs?: RegistryCase['needs'],
): RegistryCase {
  return {
    name,
    needs,
    run: subject =>
      body(async (registry = subject.open(), signal = new AbortController().signal) => {
        const answer = await registry.list(signal)
        checkAnswer(answer, subject)
        return answer
      }, subject),
  }
}

export const registryContract: readonly RegistryCase[] = [
  registryCase('an empty place is a complete answer without bundles', async list => {
    assert.deepEqual(await list(), { kind: 'complete', found: [], problems: [] })
  }),

  registryCase('everything there is, is a complete answer', async (list, subject) => {
    await subject.put({ cache: 1, database: 1, queue: 1 })
    const answer = await list()
    assert.equal(answer.kind, 'complete')
    assert.deepEqual(namesIn(answer), ['cache', 'database', 'queue'])
  }),

  registryCase('the same place gives the same answer, to whoever asks', async (list, subject) => {
    await subject.put({ cache: 1, database: 1 })
    const registry = subject.open()
    const first = await list(registry)
    assert.deepEqual(await list(registry), first)
    assert.deepEqual(await list(), first)
    assert.deepEqual(await Promise.all([list(registry), list(registry)]), [first, first])
  }),

  registryCase('only a bundle that has changed is another revision', async (list, subject) => {
    await subject.put({ cache: 1, database: 1 })
    const before = revisionsIn(await list())
    await subject.put({ cache: 2, database: 1 })
    const after = revisionsIn(await list())
    assert.notEqual(after.get('cache'), before.get('cache'))
    assert.equal(after.get('database'), before.get('database'))
    await subject.put({ cache: 1, database: 1 })
    assert.deepEqual(revisionsIn(await list()), before)
  }),

  registryCase('what has gone is missing in a complete answer', async (list, subject) => {
    const registry = subject.open()
    await subject.put({ cache: 1, database: 1 })
    await list(registry)
    await subject.put({ database: 1 })
    const answer = await list(registry)
    assert.equal(answer.kind, 'complete')
    assert.deepEqual(namesIn(answer), ['database'])
  }),

  registryCase('what a filter keeps out is not there, and is not a problem', async (list, subject) => {
    await subject.put({ cache: 1, database: 1, datastore: 1 })
    const answer = await list(subject.open(/^data/))
    assert.deepEqual(
      { kind: answer.kind, names: namesIn(answer) },
      { kind: 'complete', names: ['database', 'datastore'] },
    )
    assert.deepEqual(namesIn(await list(subject.open(/^nothing/))), [])
  }),

  registryCase(
    'one bundle that cannot be read makes the answer partial, and is named',
    async (list, subject) => {
      await subject.put({ cache: 1, database: 1 })
      await subject.spoil?.('cache')
      const answer = await list()
      assert.equal(answer.kind, 'partial')
      assert.deepEqual(namesIn(answer), ['database'])
      assert.match(JSON.stringify(answer), /"problems":\[.*cache/)
    },
    'spoil',
  ),

  registryCase('a place that is gone is a failed answer, and a complete one when it is back', async (list, subject) => {
    const registry = subject.open()
    await subject.put({ cache: 1 })
    const before = await list(registry)
    await subject.turn('gone')
    assert.equal((await list(registry)).kind, 'failed')
    await subject.turn('back')
    assert.deepEqual(await list(registry), before)
  }),

  registryCase('nonsense is never a complete answer', async (list, subject) => {
    await subject.put({ cache: 1 })
    await subject.turn('garbage')
    assert.notEqual((await list()).kind, 'complete')
  }),

  registryCase('a signal that is aborted already is a failed answer', async (list, subject) => {
    await subject.put({ cache: 1 })
    assert.equal((await list(subject.open(), AbortSignal.abort())).kind, 'failed')
  }),

  registryCase(
    'a signal ends the wait for a place that does not answer',
    async (list, subject) => {
      await subject.put({ cache: 1 })
      await subject.stall?.()
      const stopping = new AbortController()
      const listed = list(subject.open(), stopping.signal)
      await sleep(systemClock, 50)
      stopping.abort()
      const answer = await Promise.race([listed, sleep(systemClock, 5_000)])
      assert.equal(answer?.kind, 'failed')
    },
    'stall',
  ),
]

/** What holds for any answer. */
function checkAnswer(answer: RegistryAnswer, { secrets }: RegistrySubject): void {
  const text = JSON.stringify(answer)
  for (const secret of secrets) assert.ok(!text.includes(secret), 'a secret is in the answer')
  if (answer.kind === 'failed') {
    assert.ok(answer.problem.length > 0, 'a failed answer says why')
    return
  }
  assert.equal(new Set(answer.found.map(({ name }) => name)).size, answer.found.length, 'names are unique')
  for (const found of answer.found) checkFound(found)
  for (const problem of answer.problems) assert.ok(problem.length > 0, 'a problem says what is wrong')
  if (answer.kind === 'partial') assert.ok(answer.problems.length > 0, 'a partial answer says what is missing')
}

function checkFound({ name, image, digest, source, runtime, unreadable }: FoundBundle): void {
  assert.ok(name !== '' && image !== '' && digest !== '', 'a bundle has a name, an image and a digest')
  assert.ok(runtime === 1 || runtime === 2, 'the runtime of a bundle is 1 or 2')
  assert.ok(source !== '' || unreadable !== undefined, 'a bundle has a spec, or says why it has none')
}

function namesIn(answer: RegistryAnswer): readonly string[] {
  return answer.kind === 'failed' ? [] : answer.found.map(({ name }) => lastPart(name)).sort()
}

function revisionsIn(answer: RegistryAnswer): ReadonlyMap<string, string> {
  const found = answer.kind === 'failed' ? [] : answer.found
  return new Map(found.map(each => [lastPart(each.name), revisionIdOf('registry', each.name, each)]))
}

/** A registry may call a bundle by more than its name: `team/database`. */
function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1)
}
