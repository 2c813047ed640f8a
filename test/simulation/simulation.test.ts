import { describe, expect, it } from 'vitest'
import { type Report, runSeed } from './world.ts'

const alone = process.env.PURSER_SIM_SEED
const isLong = process.env.PURSER_TEST_LONG === '1'
const seeds = Number(process.env.PURSER_SIM_SEEDS ?? (isLong ? 50_000 : 200))
/** The same seeds in every short run, so that it fails for a change and for nothing else; new ones in every long run. */
const first = isLong ? Math.floor(Date.now() / 1000) : 1
const chunk = 100

function describeFailure({ seed, problems }: Report): string {
  return [
    `seed ${seed}:`,
    ...problems.map(problem => `  ${problem}`),
    `To see all that happened: PURSER_SIM_SEED=${seed} npx vitest run test/simulation`,
  ].join('\n')
}

describe.runIf(alone !== undefined)('one simulated world', () => {
  it(`seed ${alone}`, async () => {
    const report = await runSeed(Number(alone))
    console.log(report.trace.join('\n'))
    expect(report.problems, describeFailure(report)).toEqual([])
  })
})

describe.runIf(alone === undefined)('simulated worlds', () => {
  const chunks = Array.from({ length: Math.ceil(seeds / chunk) }, (_, index) => first + index * chunk)

  it.each(chunks)(`whatever happens, what was accepted ends, once and cleanly: ${chunk} seeds from %i`, async from => {
    for (let seed = from; seed < from + chunk; seed += 1) {
      const report = await runSeed(seed)
      if (report.problems.length > 0) expect.fail(describeFailure(report))
    }
  })

  it('happen again exactly as they did', async () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const [one, other] = [await runSeed(seed), await runSeed(seed)]
      expect(other.trace).toEqual(one.trace)
      expect(other.hash).toBe(one.hash)
    }
  })

  it('differ from one another', async () => {
    const hashes = new Set<string>()
    for (let seed = 1; seed <= 20; seed += 1) hashes.add((await runSeed(seed)).hash)
    expect(hashes.size).toBe(20)
  })

  it('are worlds in which things happen', async () => {
    const wanted = new Set(Object.keys(occasions))
    for (let seed = 1; seed <= 500 && wanted.size > 0; seed += 1) {
      const { trace } = await runSeed(seed)
      for (const name of wanted) if (trace.some(line => occasions[name]?.test(line))) wanted.delete(name)
    }
    expect([...wanted], 'never happened in 500 worlds').toEqual([])
  })
})

const occasions: Readonly<Record<string, RegExp>> = {
  'an operator fails an operation': /an operator: fail .*: 202/,
  'an operator tries an operation again': /an operator: retry .*: 202/,
  'an operator cancels an operation': /an operator: cancel .*: 202/,
  'an operator does not wait': /an operator: run-now .*: 202/,
  'an operator holds an operation': /an operator: hold .*: 202/,
  'an operator releases an operation': /an operator: release .*: 202/,
  'an operator sweeps what is deleted': /an operator: sweep .*: 202/,
  'an operation is held when its retries are used up': /is held/,
  'a process dies': / dies/,
  'a process is paused': /is paused/,
  'a process loses the store': /loses the store/,
  'a process is stopped in peace': /is stopped/,
  'a call to the store is lost': /claim: lost/,
  'a commit is in doubt': /finish .*: true, answer lost/,
  'a stale holder is refused': /(?:checkpoint|finish) .*: false/,
  'a backend call fails': /calls .*: error/,
  'a backend answer is lost': /calls .*: lost/,
  'a backend call is late': /calls .*: late/,
  'a backend call never returns': /calls .*: hang/,
  'the backend refuses': /calls .*: refused/,
  'a deletion supersedes': /superseded/,
  'a deletion is swept': /sweep .* succeeded/,
  'a creation sweeps first': /checkpoint .*of the sweep before: .*: true/,
  'a deletion waits for a sweep': /park .*what its bindings may have left/,
  'an observation heals a binding': /checkpoint .* heal /,
  'an unbind takes over from an observation': /observe .* of .* superseded/,
  'an operation fails': /provision .* failed/,
  'an id is in use': /: 409/,
  'a resource is busy': /422 ConcurrencyError/,
  'a platform waits for the end': /and waits at .*: 20[01]/,
  'a shared resource is removed': /share .* release/,
}
