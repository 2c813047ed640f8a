// What `npm start` and `npm test` need before anything else, in a clean clone too: the packages of the lock file and a
// build of the sources. Plain JavaScript without dependencies, because nothing is installed yet.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Whether the packages of the lock file are installed: npm notes in node_modules what it has installed. */
export function isInstalled() {
  const installed = packagesIn(join('node_modules', '.package-lock.json'))
  return Object.entries(packagesIn('package-lock.json')).every(([path, { version, link, optional, devOptional }]) => {
    if (!path.startsWith('node_modules/') || link) return true
    return installed[path] === undefined ? optional || devOptional : installed[path].version === version
  })
}

function packagesIn(lockFile) {
  const file = join(root, lockFile)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).packages : {}
}

/** Installs what the lock file says, unless exactly that is there. */
export function ensureInstalled() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < 20 || (major === 20 && minor < 19)) {
    fail(`Purser needs Node.js 20.19 or newer; this is ${process.versions.node}. Install a newer one and try again.`)
  }
  if (isInstalled()) return
  say('installing the npm packages of package-lock.json to node_modules')
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'])
}

/** Builds `dist/`, unless it was built from exactly these sources. */
export function ensureBuilt() {
  const stamp = join(root, 'dist', '.built-from')
  const wanted = hash([
    ...filesBelow(join(root, 'src')),
    ...filesBelow(join(root, 'console')),
    join(root, 'tsconfig.json'),
    join(root, 'tsconfig.build.json'),
  ])
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  say('building')
  // What a deleted source has left in dist/ would be published.
  rmSync(join(root, 'dist'), { recursive: true, force: true })
  run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.build.json'])
  run(process.execPath, [join(root, 'node_modules', 'vite', 'bin', 'vite.js'), 'build', 'console'])
  writeFileSync(stamp, wanted)
}

/** Runs a command in the project's folder and ends this process where it fails. */
export function run(command, args, options = {}) {
  const { status, error, signal } = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options })
  if (error !== undefined) fail(`${command} cannot be run: ${error.message}`)
  if (status !== 0) process.exit(status ?? (signal === null ? 1 : 130))
}

export function say(what) {
  process.stderr.write(`purser: ${what}\n`)
}

/** Says what is wrong and ends this process. */
export function fail(what) {
  say(what)
  process.exit(1)
}

function hash(files) {
  const sum = createHash('sha256')
  for (const file of files.sort()) sum.update(file).update(readFileSync(file))
  return sum.digest('hex')
}

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter(entry => entry.isFile() && !entry.name.includes('.test'))
    .map(entry => join(entry.parentPath ?? entry.path, entry.name))
}
