import { describe, expect, it } from 'vitest'
import type { Metadata } from '../../kubernetes/objects.ts'
import { concerned, looksOf, marksOf, withoutMarks } from './marks.ts'
import { managerOf, ownMetadata } from './refs.ts'

const broker = 'ledger-1'
const one = { broker, service: 's', instance: 'one' }
const two = { broker, service: 's', instance: 'two' }
const applied = (manager: string, fieldsV1: unknown = {}) => ({ manager, operation: 'Apply', fieldsV1 })

function patched(...fields: readonly (readonly [owner: typeof one, fields: unknown])[]): Metadata {
  const all = fields.map(([owner]) => marksOf(owner, { mode: 'patch' }))
  return {
    labels: Object.assign({}, ...all.map(({ labels }) => labels)),
    annotations: Object.assign({}, ...all.map(({ annotations }) => annotations)),
    managedFields: fields.map(([owner, own]) => applied(managerOf(owner), own)),
  }
}

const looks = (metadata: Metadata, conditions: { type: string; status: string }[] = []) =>
  looksOf({ metadata, status: { conditions } }, broker)

describe('the marks of an object', () => {
  it('are one for each that has patched it, so that neighbours do not overwrite each other', () => {
    const { labels = {}, annotations = {} } = patched([one, 'a'], [two, 'b'])
    expect([Object.keys(labels).length, Object.keys(annotations).length]).toEqual([1, 2])
    expect(withoutMarks({ name: 'x', labels: { ...labels, a: 'b' }, annotations })).toEqual({
      ...{ name: 'x', labels: { a: 'b' }, annotations: {} },
    })
  })

  it('of a shared object say the claim, and nothing of an instance', () => {
    const shared = 'the label'
    const { labels, annotations } = marksOf(one, { shared, mode: 'object' })
    expect(labels).toEqual({})
    expect(marksOf(two, { shared, mode: 'object' })).toEqual({ labels, annotations })
    const managedFields = [applied(managerOf(one, shared))]
    expect(concerned(looks({ annotations, managedFields }), looks({}))).toEqual([{ claim: shared }])
  })
})

describe('a change of an object', () => {
  it('concerns those whose fields it has changed, and not their neighbours', () => {
    const before = looks(patched([one, 'a'], [two, 'b']))
    expect(concerned(before, looks(patched([one, 'a'], [two, 'b'])))).toEqual([])
    expect(concerned(before, looks(patched([one, 'a'], [two, 'less'])))).toEqual([{ instanceId: 'two' }])
    expect(concerned(before, looks(patched([one, 'a'])))).toEqual([{ instanceId: 'two' }])
    expect(concerned(before, looks({}))).toEqual([{ instanceId: 'one' }, { instanceId: 'two' }])
    expect(concerned(looks(patched([one, 'a'])), before)).toEqual([])
  })

  it('concerns all of them where its conditions change, or it is being deleted', () => {
    const metadata = patched([one, 'a'], [two, 'b'])
    const ready = looks(metadata, [{ type: 'Ready', status: 'True' }])
    expect(concerned(looks(metadata), ready)).toHaveLength(2)
    const deletionTimestamp = '2026-01-01T00:00:00Z'
    expect(concerned(looks(metadata), looks({ ...metadata, deletionTimestamp }))).toHaveLength(2)
  })

  it('concerns the instance of a binding whose object it is', () => {
    const owner = { ...one, binding: 'b' }
    const metadata = { ...ownMetadata(owner, { order: 0 }), managedFields: [applied(managerOf(owner))] }
    expect(concerned(looks(metadata), looks({}))).toEqual([{ instanceId: 'one' }])
  })

  it('concerns nobody whom another broker, or people, have written on it', () => {
    const theirs = { ...one, broker: 'ledger-2' }
    const { annotations } = marksOf(theirs, { mode: 'patch' })
    expect(concerned(looks({ annotations, managedFields: [applied(managerOf(theirs))] }), looks({}))).toEqual([])
    const key = Object.keys(marksOf(one, { mode: 'patch' }).annotations)[0] ?? ''
    for (const text of ['{"instance":"two"}', '{"claim":"one"}', '[]', 'one', '{"instance":1}'])
      expect(concerned(looks({ annotations: { [key]: text } }), looks({})), text).toEqual([])
  })
})
