import { expect, it } from 'vitest'
import { runEventFlow } from './event-flow.ts'

/** A thousand are run by test/simulation/event-flow.test.ts. In some of these one would lose the broker, if it were not shared. */
const seeds = [11, 12, 13, 14, 15]

it('6342: of two instances in one namespace, none takes the broker from the other: 5 seeds', async () => {
  for (const seed of seeds) expect(await runEventFlow(seed)).toEqual([])
})
