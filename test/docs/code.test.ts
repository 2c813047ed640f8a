import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useBuiltPackage } from '../cli/built-package.ts'
import { type Block, blocksOf, guides, nameOf, root } from './pages.ts'

const built = useBuiltPackage()
const blocks = guides.flatMap(blocksOf)
const code = blocks.filter(({ language }) => ['ts', 'js'].includes(language))
const files = blocks.filter(({ marker }) => marker === 'file')
let folder = ''

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'purser-docs-')))
  await mkdir(join(folder, 'node_modules'))
  await symlink(built.folder, join(folder, 'node_modules', 'purser'))
  for (const name of ['zod', 'fastify', 'express', 'vitest', 'tsx', '@types'])
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(await compilerSettings()))
  await writeFile(join(folder, 'start.mjs'), startScript)
  for (const block of new Set([...code, ...files])) {
    await mkdir(join(folder, nameOf(block.page)), { recursive: true })
    await writeFile(join(folder, pathOf(block)), block.text)
  }
  // Pictures that the catalogs of the guides name.
  for (const { page, text } of files)
    for (const [, name = ''] of text.matchAll(/image-url-resource: (\S+)/g))
      await writeFile(join(folder, nameOf(page), name), 'not really a picture')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('code in README.md and docs/guides', () => {
  it('is found', () => {
    expect(code.length).toBeGreaterThan(15)
    expect(new Set(code.map(({ page }) => nameOf(page)))).toContain('README')
  })

  it('has the types that the package declares', async () => {
    const { out } = await run(join(root, 'node_modules', '.bin', 'tsc'), ['--noEmit', '-p', folder])
    expect(out).toBe('')
  })

  it('starts, where it is a broker, with every catalog that stands beside it', async () => {
    const brokers = code.filter(({ text }) => /^export default defineBroker/m.test(text)).map(pathOf)
    const catalogs = files.filter(({ language }) => language === 'yaml')
    const pairs = catalogs.map(block => [join(nameOf(block.page), 'broker.ts'), block.argument])
    expect(brokers.length).toBeGreaterThan(7)
    expect(pairs.length).toBeGreaterThan(1)
    const wanted = [...brokers.map(broker => [broker]), ...pairs]
    const { out } = await run(process.execPath, ['--import', 'tsx', 'start.mjs', JSON.stringify(wanted)])
    expect(out).toBe(`${wanted.map(args => `${args.join(' ')} started\n`).join('')}`)
  })

  const tests = files.filter(({ argument }) => argument.endsWith('.test.ts'))
  it('passes, where it is a test', async () => {
    expect(tests.length).toBeGreaterThan(2)
    const { code, out } = await run(join(root, 'node_modules', '.bin', 'vitest'), ['run', '--root', folder])
    expect(out).toContain(`${tests.length} passed`)
    expect(code).toBe(0)
  })
})

function pathOf({ page, line, language, marker = '', argument }: Block): string {
  const named = ['file', 'example'].includes(marker)
  return join(nameOf(page), named ? basename(argument) : `line-${line}.${language === 'js' ? 'mjs' : 'ts'}`)
}

/** The repository's own strictness, over JavaScript too. */
async function compilerSettings(): Promise<object> {
  const { compilerOptions } = JSON.parse(await readFile(join(root, 'tsconfig.json'), 'utf8'))
  return {
    compilerOptions: { ...compilerOptions, allowJs: true, checkJs: true },
    exclude: ['node_modules', 'start.mjs'],
  }
}

const startScript = `
import { dirname, resolve } from 'node:path'
import { createBroker } from 'purser'
const root = process.cwd()
for (const [file, ...catalogs] of JSON.parse(process.argv[2])) {
  process.chdir(root)
  const { default: definition } = await import(resolve(file))
  process.chdir(dirname(file))
  const [catalog] = catalogs
  const chosen = catalog === undefined ? definition : { ...definition, catalog }
  const broker = createBroker(chosen, { store: 'memory:', authenticator: 'none' })
  await broker.start()
  await broker.close()
  console.log([file, ...catalogs].join(' ') + ' started')
}
`

function run(command: string, args: readonly string[]): Promise<{ code: number; out: string }> {
  return new Promise(resolve => {
    const env = { PATH: process.env.PATH, NO_COLOR: '1' }
    execFile(command, [...args], { cwd: folder, env }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1, out: stdout + stderr }),
    )
  })
}
