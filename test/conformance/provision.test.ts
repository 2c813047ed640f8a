import { expect } from 'vitest'
import { conformance, requirement } from './harness.ts'
import { full, org } from './services.ts'

conformance('Provisioning', () => {
  requirement(['PROV-12', 'PROV-13'], 'a repeated PUT while creating answers 202 with the first operation', async t => {
    const release = t.backend.hold('provision')
    const first = await t.client.provision('i', { ...full, ...org }, { acceptsIncomplete: true })
    const second = await t.client.provision('i', { ...full, ...org }, { acceptsIncomplete: true })
    expect([first.status, second.status]).toEqual([202, 202])
    expect(second.body.operation).toBe(first.body.operation)
    release()
    expect(await t.ended('i')).toMatchObject({ state: 'succeeded' })
    expect(t.backend.done).toEqual(['provision i'])
  })
})
