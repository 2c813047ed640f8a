import { expect, it } from 'vitest'
import { runEventFlow } from './event-flow.ts'

/** A thousand are run by test/simulation/event-flow.test.ts. */
it('6342: of two instances in one namespace, none takes the broker from the other: 5 seeds', async () => {
  for (let seed = 1; seed <= 5; seed += 1) expect(await runEventFlow(seed)).toEqual([])
})
