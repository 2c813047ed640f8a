/** Images for the nodes of a test cluster, made of nothing but busybox. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packBase } from './container-engine.ts'
import { loadImage } from './kubernetes.ts'

const run = promisify(execFile)

/** Lines of a Dockerfile on top of busybox, and files for it beside `base.tar`. Gives it to the nodes under that name. */
export async function makeNodeImage(
  name: string,
  lines: readonly string[] = [],
  files: Readonly<Record<string, string | Buffer>> = {},
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'purser-image-'))
  try {
    packBase(folder)
    for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), content, { mode: 0o755 })
    writeFileSync(join(folder, 'Dockerfile'), ['FROM scratch', 'ADD base.tar /', ...lines].join('\n'))
    const storage = ['--root', join(folder, 'root'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs']
    await run('buildah', [...storage, 'bud', '--isolation=chroot', '-t', name, folder])
    const archive = join(folder, 'image.tar')
    await run('buildah', [...storage, 'push', name, `docker-archive:${archive}:${name}`])
    await loadImage(archive)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
