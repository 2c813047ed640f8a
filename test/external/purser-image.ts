/** The container image of Containerfile, on a base that is made of what this machine has: no registry of images is asked. */
import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findMissing, makeTree } from './container-engine.ts'
import { addNode } from './kubernetes-image.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Of the base. Node.js comes from npm's package `node`. */
const nodeVersion = 24
const authorities = '/etc/ssl/certs/ca-certificates.crt'

export const purserImage = 'localhost/purser-test:1'
export const baseImage = 'localhost/purser-test-base:1'

export function whyNoBuild(): string | undefined {
  return findMissing(['buildah', 'busybox', 'npm'], 'buildah and busybox-static')
}

/** Archives (docker-archive) of the image and of its base; made once for the sources as they are. */
export async function buildPurserImage(): Promise<{ readonly image: string; readonly base: string }> {
  const kept = join(root, '.cache', 'image', sourcesHash())
  const archives = { image: join(kept, 'image.tar'), base: join(kept, 'base.tar') }
  if (existsSync(kept)) return archives
  const folder = mkdtempSync(join(tmpdir(), 'purser-build-'))
  try {
    const run = promisify(execFile)
    const place = ['--root', join(folder, 'root'), '--runroot', join(folder, 'runroot'), '--storage-driver', 'vfs']
    const buildah = (...args: string[]) => run('buildah', [...place, ...args], { cwd: root, maxBuffer: 2 ** 26 })
    await makeNodeBase(folder, buildah)
    const options = [
      '--isolation',
      'chroot',
      '--layers=false',
      '--pull-never',
      '--build-arg',
      `NODE_IMAGE=${baseImage}`,
    ]
    // What this machine has fetched before is not fetched again.
    const npmCache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim()
    const volume = existsSync(npmCache) ? ['--volume', `${npmCache}:/root/.npm`] : []
    await buildah('bud', ...options, ...volume, '--file', 'Containerfile', '--tag', purserImage, '.')
    const draft = join(folder, 'kept')
    mkdirSync(draft)
    await buildah('push', purserImage, `docker-archive:${join(draft, 'image.tar')}:${purserImage}`)
    await buildah('push', baseImage, `docker-archive:${join(draft, 'base.tar')}:${baseImage}`)
    rmSync(dirname(kept), { recursive: true, force: true })
    mkdirSync(dirname(kept), { recursive: true })
    cpSync(draft, `${kept}.new`, { recursive: true })
    renameSync(`${kept}.new`, kept)
    return archives
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Node.js, npm, busybox and the certificates that this machine believes in. */
async function makeNodeBase(folder: string, buildah: (...args: string[]) => Promise<unknown>): Promise<void> {
  const tree = makeTree(folder)
  const exec = [
    'exec',
    '--yes',
    '--loglevel=error',
    `--package=node@${nodeVersion}`,
    '--',
    'node',
    '-p',
    'process.execPath',
  ]
  const node = execFileSync('npm', exec, { encoding: 'utf8' }).trim()
  addNode(tree, node)
  addLibc(tree, node)
  const npm = dirname(
    dirname(execFileSync('sh', ['-c', 'readlink -f "$(command -v npm)"'], { encoding: 'utf8' }).trim()),
  )
  cpSync(npm, join(tree, 'lib', 'npm'), { recursive: true, dereference: true })
  for (const name of ['npm', 'npx']) symlinkSync(`../lib/npm/bin/${name}-cli.js`, join(tree, 'bin', name))
  mkdirSync(join(tree, 'usr', 'bin'), { recursive: true })
  symlinkSync('/bin/env', join(tree, 'usr', 'bin', 'env'))
  writeFileSync(join(tree, 'etc', 'nsswitch.conf'), 'hosts: files dns\n')
  writeFileSync(join(tree, 'etc', 'passwd'), 'root:x:0:0:root:/root:/bin/sh\n')
  const believes = existsSync(authorities)
  if (believes) {
    mkdirSync(dirname(join(tree, authorities)), { recursive: true })
    copyFileSync(authorities, join(tree, authorities))
  }
  writeFileSync(
    join(folder, 'Base'),
    `FROM scratch\nCOPY tree /\nENV PATH=/usr/bin:/bin${believes ? ` NODE_EXTRA_CA_CERTS=${authorities}` : ''}\n`,
  )
  await buildah('bud', '--isolation', 'chroot', '--file', join(folder, 'Base'), '--tag', baseImage, folder)
}

/** The whole C library, as every base image has it: programs of npm packages need other parts of it than Node.js does. */
function addLibc(tree: string, program: string): void {
  const [libc = ''] = execFileSync('ldd', [program], { encoding: 'utf8' }).match(/\/\S+\/libc\.so\.6/) ?? []
  const names = ['libanl', 'libdl', 'libm', 'libnss_dns', 'libnss_files', 'libpthread', 'libresolv', 'librt', 'libutil']
  for (const name of readdirSync(dirname(libc)).filter(each => names.includes(each.split('.so')[0] ?? '')))
    copyFileSync(join(dirname(libc), name), join(tree, dirname(libc), name))
}

/** Of everything that the image is made of. */
function sourcesHash(): string {
  const named = readFileSync(join(root, '.dockerignore'), 'utf8').match(/^!\S+/gm) ?? []
  const hash = createHash('sha256').update(readFileSync(join(root, 'Containerfile')))
  hash.update(readFileSync(fileURLToPath(import.meta.url)))
  for (const path of named.map(line => line.slice(1)))
    for (const file of filesBelow(join(root, path))) hash.update(relative(root, file)).update(readFileSync(file))
  return hash.digest('hex').slice(0, 16)
}

function filesBelow(path: string): readonly string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true, recursive: true })
    const files = entries.filter(entry => entry.isFile() && !entry.parentPath.includes('node_modules'))
    return files.map(entry => join(entry.parentPath, entry.name)).sort()
  } catch {
    return existsSync(path) ? [path] : []
  }
}
