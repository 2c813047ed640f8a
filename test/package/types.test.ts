import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useBuiltPackage } from '../cli/built-package.ts'

const root = join(import.meta.dirname, '..', '..')
const built = useBuiltPackage()
let project = ''
let subpaths: string[] = []

/** A project with nothing but the packed package and what it depends on: no optional peer, and no types of Node.js. */
beforeAll(async () => {
  project = await realpath(await mkdtemp(join(tmpdir(), 'purser-types-')))
  const { dependencies, exports } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  await run('npm', ['pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', project], built.folder)
  await mkdir(join(project, 'node_modules', 'purser'), { recursive: true })
  const tarball = `purser-${JSON.parse(await readFile(join(root, 'package.json'), 'utf8')).version}.tgz`
  await run('tar', ['-xzf', tarball, '-C', 'node_modules/purser', '--strip-components=1'], project)
  for (const name of Object.keys(dependencies)) {
    const place = join(project, 'node_modules', name)
    await mkdir(dirname(place), { recursive: true })
    await symlink(join(root, 'node_modules', name), place)
  }
  subpaths = Object.keys(exports).filter(path => !path.endsWith('.json'))
  await writeFile(
    join(project, 'index.ts'),
    subpaths
      .map((path, index) => `import * as module${index} from '${path.replace('.', 'purser')}'\nvoid module${index}\n`)
      .join(''),
  )
  await writeFile(join(project, 'author.ts'), author)
  await writeFile(join(project, 'package.json'), '{ "type": "module" }')
  await writeFile(
    join(project, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        skipLibCheck: false,
        module: 'nodenext',
        target: 'es2022',
        noEmit: true,
      },
      files: ['index.ts', 'author.ts'],
    }),
  )
}, 120_000)
afterAll(() => rm(project, { recursive: true, force: true }))

describe('an empty strict project without any optional peer, and without types of Node.js', () => {
  it.each([
    ['TypeScript 5.4', join(root, 'test', 'consumer', 'node_modules', '.bin', 'tsc'), /^Version 5\.4\./],
    ['the newest TypeScript', join(root, 'node_modules', '.bin', 'tsc'), /^Version [7-9]\./],
  ])(
    'takes every subpath with %s',
    async (_, compiler, version) => {
      expect(await run(compiler, ['--version'], project)).toMatch(version)
      expect(subpaths.length).toBeGreaterThan(9)
      expect(await run(compiler, ['-p', '.'], project)).toBe('')
    },
    120_000,
  )
})

/** What an author writes, with what the compiler has to refuse. */
const author = `
import { createBroker, defineBroker, defineService } from 'purser'
import { toExpress } from 'purser/express'
import { toFastify } from 'purser/fastify'

const service = defineService({
  id: 'x',
  plans: [{ id: 'p', name: 'small', description: 'Small' }],
  parameters: { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] },
  async provision(ctx) {
    const at: string = await ctx.step('make', () => new Date())
    // @ts-expect-error not JSON
    await ctx.step('map', () => new Map([[at, 1]]))
    const plan: 'small' = ctx.plan.name
    const size: number = ctx.parameters.size
    return { state: { at: new Date(), plan, size } }
  },
  bind: async ctx => ({ credentials: { at: ctx.state.at.slice(1) } }),
  unbind() {},
  deprovision() {},
})
// @ts-expect-error who may call has to be said
createBroker(defineBroker({ services: [service] }), { store: 'memory:' })
const settings = { engine: { lease: '30s', concurrency: 4 } } as const
const broker = createBroker({ services: [service] }, { store: 'memory:', authenticator: 'none', settings })
export const adapters = [toExpress(broker), toFastify(broker)]
`

function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  return new Promise(resolve => {
    execFile(command, [...args], { cwd }, (_, stdout) => resolve(stdout))
  })
}
