import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8'))

it('npm run sbom lists every package that is installed with this one, at its version, and no other', () => {
  const folder = mkdtempSync(join(tmpdir(), 'purser-sbom-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'sbom.cdx.json')
  execFileSync(process.execPath, [join(root, 'scripts/sbom.mjs'), file], { stdio: 'pipe' })
  const sbom = readJson(file)
  const { dependencies, optionalDependencies, devDependencies, version } = readJson(join(root, 'package.json'))
  expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'purser', version } } })
  const { packages } = readJson(join(root, 'package-lock.json'))
  const listed = new Map<string, string>(
    sbom.components.map((each: { name: string; version: string }) => [each.name, each.version]),
  )
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies }))
    expect([name, listed.get(name)]).toEqual([name, packages[`node_modules/${name}`].version])
  for (const name of ['vitest', 'typescript', 'hello-broker']) expect(listed.has(name), name).toBe(false)
  expect(devDependencies).toHaveProperty('vitest')
  // What those need is there as well, and each can be told from a forged one.
  expect(listed.has('fast-deep-equal')).toBe(true)
  for (const { name, hashes } of sbom.components)
    if (packages[`node_modules/${name}`]?.integrity) expect(hashes, name).toHaveLength(1)
})

it('it is part of what is released', () => {
  const { scripts, files } = readJson(join(root, 'package.json'))
  expect(scripts.prepack).toContain('scripts/sbom.mjs')
  expect(files).toContain('dist')
})
