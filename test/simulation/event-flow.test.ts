import { expect, it } from 'vitest'
import { runEventFlow } from '../manifests/event-flow.ts'

const seeds = process.env.PURSER_TEST_LONG === '1' ? 1_000 : 60

it(`6342: the namespace never loses its broker while an instance needs it: ${seeds} seeds`, async () => {
  for (let seed = 1; seed <= seeds; seed += 1) expect(await runEventFlow(seed)).toEqual([])
})
