import { describe, expect, it } from 'vitest'
import { mutations } from '../mutation/mutations.ts'
import { type DatabaseKind, whyNot } from './databases.ts'
import { type Guard, guards } from './guards.ts'
import { type Scenario, scenarios } from './scenarios.ts'
import { inWorld } from './world.ts'

/** A machine that is too slow at the wrong moment shows nothing; then it is tried again. */
const attempts = 4

const missing = new Map<DatabaseKind, string>()
for (const kind of ['postgres', 'mongodb'] as const) {
  const reason = await whyNot(kind)
  if (reason !== undefined) missing.set(kind, reason)
}

const stormy = guards.flatMap(({ name, storm }) => (storm === undefined ? [] : [{ name, ...storm }]))

describe('guards', () => {
  it.each(guards)('$name: somebody watches it', ({ storm, mutations: names = [] }) => {
    expect(storm !== undefined || names.length > 0).toBe(true)
    for (const name of names) expect(mutations.map(mutation => mutation.name)).toContain(name)
  })

  for (const [on, used] of worldsOf(stormy)) {
    const reason = missing.get(on.kind)
    const title = `in place, real processes on ${on.kind} come through: ${used.map(([name]) => name).join(', ')}`
    it.skipIf(reason !== undefined)(reason === undefined ? title : `${title} (${reason})`, async () => {
      const { timing } = on
      await inWorld({ kind: on.kind, seed: 'guards', timing }, async world => {
        for (const [name, scenario] of used) expect(await scenario.play(world, name, 120_000), name).toEqual([])
      })
    })
  }

  for (const { name, on, scenario, changes, finds } of stormy) {
    const reason = missing.get(on)
    it.skipIf(reason !== undefined)(`switched off, real processes on ${on} show it: ${name}`, async () => {
      const { timing, play } = scenarios[scenario]
      const found = await inWorld({ kind: on, seed: name, timing, changes }, async world => {
        const problems: string[] = []
        for (let attempt = 0; attempt < attempts && !problems.some(one => finds.test(one)); attempt += 1)
          problems.push(...(await play(world, `attempt-${attempt}`, 10_000)))
        return problems
      })
      expect(found.join('\n')).toMatch(finds)
    })
  }
})

type Stormy = NonNullable<Guard['storm']>
type Used = readonly (readonly [name: string, scenario: Scenario])[]

/** Scenarios of the same database and the same times need only one start. */
function worldsOf(
  list: readonly Stormy[],
): readonly (readonly [on: { readonly kind: DatabaseKind } & Pick<Scenario, 'timing'>, used: Used])[] {
  const worlds = new Map<string, readonly [{ kind: DatabaseKind } & Pick<Scenario, 'timing'>, Map<string, Scenario>]>()
  for (const { on: kind, scenario: name } of list) {
    const scenario = scenarios[name]
    const key = JSON.stringify([kind, scenario.timing])
    const world = worlds.get(key) ?? [{ kind, timing: scenario.timing }, new Map<string, Scenario>()]
    world[1].set(name, scenario)
    worlds.set(key, world)
  }
  return [...worlds.values()].map(([on, used]) => [on, [...used]] as const)
}
