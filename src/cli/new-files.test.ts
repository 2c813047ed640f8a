import { expect, it } from 'vitest'
import { toDependency, toPackageName } from './new-files.ts'

it('depends on the registry when purser was installed from it, else on the clone', () => {
  expect(toDependency('/app/node_modules/purser', '1.2.3', '/projects/new')).toBe('^1.2.3')
  expect(toDependency('/projects/purser', '1.2.3', '/projects/new')).toBe('file:../purser')
  expect(toDependency('/projects/purser', '1.2.3', '/projects/purser/samples/new')).toBe('file:../..')
})

it.each([
  ['my-broker', 'my-broker'],
  ['My Broker!', 'my-broker'],
  ['.hidden', 'hidden'],
  ['...', 'my-broker'],
  ['purser', 'my-broker'],
])('the folder %j makes the package %j', (folder, name) => {
  expect(toPackageName(folder)).toBe(name)
})
