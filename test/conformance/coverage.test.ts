import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { comparableRows, renderTable } from './table/render.ts'
import { readSources, tablePath } from './table/sources.ts'

describe('every requirement', () => {
  const sources = readSources()
  const ids = sources.requirements.map(({ id }) => id)
  const tested = new Set(sources.scenarios.flatMap(scenario => scenario.ids))

  it('has an id of its own', () => {
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
  })

  it('has a test, or an exception that says why not', () => {
    expect(ids.filter(id => !tested.has(id) && !sources.exceptions.has(id))).toEqual([])
  })

  it('has not both', () => {
    expect([...sources.exceptions.keys()].filter(id => tested.has(id))).toEqual([])
  })

  it('that a test or an exception names is one of the list', () => {
    expect([...tested, ...sources.exceptions.keys()].filter(id => !ids.includes(id))).toEqual([])
  })

  it('that is an exception has a reason', () => {
    const reasons = [...sources.exceptions.values()]
    expect(reasons.filter(reason => typeof reason !== 'string' || reason.trim() === '')).toEqual([])
  })

  it('stands in docs/reference/conformance.md as it is: if not, run `npm run conformance:table`', () => {
    const page = existsSync(tablePath) ? readFileSync(tablePath, 'utf8') : ''
    const shown = comparableRows(page)
    const wanted = comparableRows(renderTable(sources, new Map()))
    const idOf = (row: string) => row.split(' ')[1]
    expect(wanted.filter(row => !shown.includes(row)).map(idOf)).toEqual([])
    expect(shown.filter(row => !wanted.includes(row)).map(idOf)).toEqual([])
    expect(shown.map(idOf)).toEqual(ids)
  })
})
