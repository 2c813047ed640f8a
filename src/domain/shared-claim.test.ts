import { describe, expect, it } from 'vitest'
import { decideShared } from './shared-claim.ts'

describe('a shared resource that counts as absent', () => {
  const row = { key: 'label', phase: 'absent' } as const
  const snapshot = { row, operationId: 'o', otherClaims: 0, holderAlive: false }

  it('is not removed with the last claim, but by a sweep: a late call may have made it', () => {
    expect(decideShared('release', snapshot)).toEqual({ answer: 'ready', row, claim: false })
    expect(decideShared('sweep', snapshot)).toMatchObject({ answer: 'do', row: { phase: 'removing', holder: 'o' } })
  })
})
