import { describe, expect, it } from 'vitest'
import type { CrashPoint } from '../../src/testing/crash-points.ts'
import { type Command, Player } from './player.ts'
import { createSimulation, type StoreKind, storeKinds } from './simulation.ts'

const provision: Command = { type: 'provision', instance: 'i1', variant: 'small' }
const deprovision: Command = { type: 'deprovision', instance: 'i1' }
const bind: Command = { type: 'bind', instance: 'i1', binding: 'b1', variant: 'small' }
const unbind: Command = { type: 'unbind', instance: 'i1', binding: 'b1' }
const wait = (seconds: number): Command => ({ type: 'advance', ms: seconds * 1000 })

interface Scenario {
  readonly given: readonly Command[]
  /** A crash is tried at every call from here on. */
  readonly when: readonly Command[]
  readonly shared?: boolean
}

const scenarios: Readonly<Record<string, Scenario>> = {
  'a provision of three steps': { given: [], when: [provision, wait(10)] },
  'a DELETE during a provision': { given: [], when: [provision, wait(3), deprovision, wait(45)] },
  'an update': { given: [provision, wait(10)], when: [{ ...provision, type: 'update', variant: 'large' }, wait(10)] },
  'a DELETE during an update': {
    given: [provision, wait(10)],
    when: [{ ...provision, type: 'update', variant: 'large' }, wait(3), deprovision, wait(45)],
  },
  'a bind and an unbind': { given: [provision, wait(10)], when: [bind, wait(3), unbind, wait(3)] },
  'a DELETE during a bind': { given: [provision, wait(10)], when: [bind, wait(1), unbind, wait(40)] },
  'a DELETE while a binding is being swept': {
    given: [provision, wait(10), bind, wait(3), { type: 'faults', faults: ['late'] }],
    when: [unbind, wait(20), deprovision, wait(90)],
  },
  'a PUT while what was deleted under its id is being swept': {
    given: [provision, wait(10), { type: 'faults', faults: ['late'] }, deprovision, wait(20)],
    when: [provision, wait(90)],
  },
  'a DELETE of a bind that waits for a sweep': {
    given: [provision, wait(10), bind, wait(3), { type: 'faults', faults: ['late'] }, unbind, wait(20)],
    when: [bind, wait(5), unbind, wait(2), bind, wait(90)],
  },
  'a shared resource that changes hands': {
    shared: true,
    given: [provision, wait(10)],
    when: [deprovision, wait(3), { ...provision, instance: 'i2' }, wait(20)],
  },
  'a provision that fails and is asked for again': {
    given: [],
    when: [{ type: 'faults', faults: ['ok', 'error', 'refused'] }, provision, wait(10), provision, wait(10)],
  },
}

async function play(kind: StoreKind, scenario: Scenario, crashAt: number | undefined): Promise<readonly CrashPoint[]> {
  const points: CrashPoint[] = []
  const simulation = await createSimulation({
    kind,
    shared: scenario.shared ?? false,
    onPoint: point => points.push(point),
  })
  try {
    const player = new Player(simulation)
    for (const command of scenario.given) await player.play(command)
    points.length = 0
    if (crashAt !== undefined) await player.play({ type: 'crash', points: crashAt })
    for (const command of scenario.when) await player.play(command)
    const passed = [...points]
    if (crashAt !== undefined) expect(passed.length, 'the point was reached').toBeGreaterThanOrEqual(crashAt)
    await player.finish()
    return passed
  } finally {
    await simulation.end()
  }
}

/** One of many looks for work in a row: a crash here is a crash at the first of them, a little later. */
function isIdle(points: readonly CrashPoint[], index: number): boolean {
  return [0, 1, 2].every(back => points[index - back]?.call === 'claim')
}

/** What crashes is the same code on every store: with files, all of the points are for the long run. */
function isDue(kind: StoreKind, index: number): boolean {
  return kind === 'memory' || index % 5 === 0 || process.env.PURSER_TEST_LONG === '1'
}

describe('a crash at every call to the ledger, before and after', () => {
  for (const kind of storeKinds)
    describe(kind, () => {
      it.each(Object.entries(scenarios))('%s', async (name, scenario) => {
        const points = await play(kind, scenario, undefined)
        expect(points.length).toBeGreaterThan(10)
        for (const [index, { call, when }] of points.entries()) {
          if (isIdle(points, index) || !isDue(kind, index)) continue
          try {
            await play(kind, scenario, index + 1)
          } catch (error) {
            throw new Error(`${name}: crash ${when} ${call}, the ${index + 1}th point`, { cause: error })
          }
        }
      })
    })
})
