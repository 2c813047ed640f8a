import { describe, expect, it } from 'vitest'
import { foldServices, mostPlans, mostServices, otherId } from './fold-services.ts'

const ready = { phase: 'ready', usable: true } as const

function many(count: number, toRow: (index: number) => { serviceId: string; planId: string; rows: number }) {
  return Array.from({ length: count }, (_, index) => ({ ...toRow(index), ...ready }))
}

describe('foldServices', () => {
  it('tells the largest services apart, and adds up the others', () => {
    const instances = many(mostServices + 100, index => ({ serviceId: `s${index}`, planId: 'p', rows: index + 1 }))
    const folded = foldServices({
      instances,
      bindings: [
        { serviceId: 's0', phase: 'ready', rows: 3 },
        { serviceId: 's1', phase: 'ready', rows: 4 },
        { serviceId: 's299', phase: 'ready', rows: 5 },
      ],
      revisions: [
        { serviceId: 's0', position: 'behind', rows: 1 },
        { serviceId: 'gone', position: 'retired', rows: 2 },
      ],
    })
    expect(folded.instances).toHaveLength(mostServices + 1)
    expect(folded.instances).toContainEqual({ serviceId: otherId, planId: otherId, ...ready, rows: 5_050 })
    expect(folded.instances).toContainEqual({ serviceId: 's299', planId: 'p', ...ready, rows: 300 })
    expect(folded.bindings).toEqual([
      { serviceId: otherId, phase: 'ready', rows: 7 },
      { serviceId: 's299', phase: 'ready', rows: 5 },
    ])
    expect(folded.revisions).toEqual([
      { serviceId: otherId, position: 'behind', rows: 1 },
      { serviceId: otherId, position: 'retired', rows: 2 },
    ])
  })

  it('tells the largest plans of all services apart', () => {
    const instances = many(mostPlans + 500, index => ({ serviceId: `s${index % 2}`, planId: `p${index}`, rows: 1 }))
    const folded = foldServices({ instances, bindings: [], revisions: [] }).instances
    expect(folded).toHaveLength(mostPlans + 1)
    expect(folded.reduce((sum, { rows }) => sum + rows, 0)).toBe(mostPlans + 500)
  })

  it('does not depend on the order of what was counted', () => {
    const instances = many(mostServices + 50, index => ({ serviceId: `s${index}`, planId: 'p', rows: 1 }))
    const names = (rows: typeof instances) =>
      foldServices({ instances: rows, bindings: [], revisions: [] })
        .instances.map(({ serviceId }) => serviceId)
        .sort()
    expect(names([...instances].reverse())).toEqual(names(instances))
  })
})
