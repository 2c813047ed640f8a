import { expect, it } from 'vitest'
import { toDependency } from './dependency.ts'
import { projectFiles } from './files.ts'
import { toPackageName } from './package-json.ts'

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

it('has a package.json that npm takes', () => {
  const file = projectFiles('notes', '^1.0.0').find(({ path }) => path === 'package.json')
  expect(JSON.parse(file?.text ?? '')).toMatchObject({
    name: 'notes',
    type: 'module',
    scripts: { start: 'purser serve' },
    dependencies: { purser: '^1.0.0' },
  })
})
