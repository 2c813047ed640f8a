import { expect, it } from 'vitest'
import { createKinds } from './kinds.ts'

const resources = [{ name: 'configmaps', kind: 'ConfigMap', namespaced: true }]
const findKind = createKinds({ call: async () => ({ resources }) as never })

it('a path leads to what is named, and nowhere else', async () => {
  const kind = await findKind({ apiVersion: 'v1', kind: 'ConfigMap' })
  expect(kind?.path('team', 'a/../b')).toBe('/api/v1/namespaces/team/configmaps/a%2F..%2Fb')
  for (const name of ['.', '..']) {
    expect(() => kind?.path('team', name)).toThrow(`"${name}" is no name`)
    expect(() => kind?.path(name)).toThrow(`"${name}" is no name`)
  }
})
