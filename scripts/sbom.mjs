// Writes dist/sbom.cdx.json: every package that an installation of purser brings along, as CycloneDX, by `npm sbom` from
// package-lock.json. It needs no network. What only tests and builds need is not in it.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { root, say } from './setup.mjs'

const readJson = name => JSON.parse(readFileSync(join(root, name), 'utf8'))

/** What is installed with the package: what it needs, and what that needs. Peers and the samples, which are workspaces, are not. */
function released() {
  const { name, version, description, license, homepage, dependencies, optionalDependencies } = readJson('package.json')
  const manifest = { name, version, description, license, homepage, dependencies, optionalDependencies }
  const { packages, ...lock } = readJson('package-lock.json')
  const kept = { '': manifest }
  const keep = (from, { dependencies: needed, optionalDependencies: wanted }) => {
    for (const each of Object.keys({ ...needed, ...wanted })) {
      const path = findInstalled(packages, from, each)
      if (path === undefined || path in kept) continue
      const { peerDependencies: _peers, peerDependenciesMeta: _meta, ...entry } = packages[path]
      kept[path] = entry
      keep(path, entry)
    }
  }
  keep('', manifest)
  return { manifest, lock: { ...lock, packages: kept } }
}

/** Where Node.js finds a package from another one: in its own folder first, then in those above. */
function findInstalled(packages, from, name) {
  const path = `${from === '' ? '' : `${from}/`}node_modules/${name}`
  if (path in packages) return path
  return from === ''
    ? undefined
    : findInstalled(packages, from.replace(/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/, ''), name)
}

const temporary = mkdtempSync(join(tmpdir(), 'purser-sbom-'))
process.on('exit', () => rmSync(temporary, { recursive: true, force: true }))
const { manifest, lock } = released()
// npm names the whole after its folder.
const folder = join(temporary, manifest.name)
mkdirSync(folder)
writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock))
const args = [
  'sbom',
  '--offline',
  '--package-lock-only',
  '--sbom-format',
  'cyclonedx',
  '--sbom-type',
  'library',
  '--omit',
  'dev',
]
const { status, stdout, stderr } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26 })
if (status !== 0) {
  process.stderr.write(`npm sbom has failed:\n${stderr}`)
  process.exit(1)
}
const file = process.argv[2] ?? join(root, 'dist', 'sbom.cdx.json')
mkdirSync(dirname(file), { recursive: true })
writeFileSync(file, stdout)
say(`${JSON.parse(stdout).components.length} packages are in ${file}`)
