/** Images for the nodes of a test cluster, made of nothing but busybox. */
import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { packBase } from './container-engine.ts'
import { loadImage } from './kubernetes.ts'

export interface NodeImage {
  readonly entrypoint: readonly string[]
  readonly labels?: Readonly<Record<string, string>>
  /** Text files, by their paths from the root. */
  readonly files?: Readonly<Record<string, string>>
  /** Folders that everybody may write to, by their paths from the root. */
  readonly open?: readonly string[]
  /** Also the Node.js that this runs on, with the libraries it needs, as /bin/node. */
  readonly withNode?: boolean
}

/** Gives the nodes an image of that name. */
export function makeNodeImage(name: string, image: NodeImage): Promise<void> {
  return withArchive(name, image, loadImage)
}

/** Pushes an image to a registry without TLS, as `host:port/name:tag`. */
export function pushNodeImage(target: string, image: NodeImage, credentials: string): Promise<void> {
  return withArchive(target, image, async archive => {
    const options = ['--dest-tls-verify=false', '--dest-creds', credentials]
    await promisify(execFile)('skopeo', ['copy', ...options, `docker-archive:${archive}`, `docker://${target}`])
  })
}

/** An archive as Docker saves images, with one layer. */
async function withArchive(
  name: string,
  { entrypoint, labels = {}, files = {}, open = [], withNode = false }: NodeImage,
  use: (archive: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'purser-image-'))
  try {
    copyFileSync(packBase(folder), join(folder, 'layer.tar'))
    for (const [path, text] of Object.entries(files)) addFile(folder, path, place => writeFileSync(place, text))
    for (const path of open) {
      mkdirSync(join(folder, 'more', path), { recursive: true })
      chmodSync(join(folder, 'more', path), 0o1777)
      execFileSync('tar', ['-C', join(folder, 'more'), '-rf', join(folder, 'layer.tar'), path])
    }
    if (withNode) {
      addNode(join(folder, 'node'))
      execFileSync('tar', ['-C', join(folder, 'node'), '-rf', join(folder, 'layer.tar'), '.'])
    }
    const layer = createHash('sha256')
      .update(readFileSync(join(folder, 'layer.tar')))
      .digest('hex')
    const config = {
      architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
      os: 'linux',
      config: { Entrypoint: entrypoint, Env: ['PATH=/bin'], Labels: labels },
      rootfs: { type: 'layers', diff_ids: [`sha256:${layer}`] },
    }
    writeFileSync(join(folder, 'config.json'), JSON.stringify(config))
    const manifest = [{ Config: 'config.json', RepoTags: [name], Layers: ['layer.tar'] }]
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest))
    const archive = join(folder, 'image.tar')
    execFileSync('tar', ['-C', folder, '-cf', archive, 'manifest.json', 'config.json', 'layer.tar'])
    await use(archive)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function addFile(folder: string, path: string, write: (place: string) => void): void {
  const place = join(folder, 'more', path)
  mkdirSync(dirname(place), { recursive: true })
  write(place)
  chmodSync(place, 0o755)
  execFileSync('tar', ['-C', join(folder, 'more'), '-rf', join(folder, 'layer.tar'), path])
}

/** Adds a Node.js to a root of files, with the libraries that it needs, as /bin/node. */
export function addNode(tree: string, program = process.execPath): void {
  const libraries = execFileSync('ldd', [program], { encoding: 'utf8' }).match(/\/\S+/g) ?? []
  for (const [from, to] of [...libraries.map(library => [realpathSync(library), library]), [program, '/bin/node']]) {
    const place = join(tree, to ?? '')
    mkdirSync(dirname(place), { recursive: true })
    copyFileSync(from ?? '', place)
    chmodSync(place, 0o755)
  }
}

const made = new Map<string, Promise<string>>()

/** An image whose entry point is the script, each once; answers its name. */
export function makeScriptImage(script: string): Promise<string> {
  const name = `localhost/purser-test-script:${createHash('sha256').update(script).digest('hex').slice(0, 16)}`
  const making =
    made.get(name) ?? makeNodeImage(name, { entrypoint: ['/bin/sh', '-c', script, 'entrypoint'] }).then(() => name)
  made.set(name, making)
  return making
}
