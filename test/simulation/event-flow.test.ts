import { expect, it } from 'vitest'
import { runEventFlow } from '../manifests/event-flow.ts'

it('6342: the namespace never loses its broker while an instance needs it: 1,000 seeds', async () => {
  for (let seed = 1; seed <= 1_000; seed += 1) expect(await runEventFlow(seed)).toEqual([])
})
