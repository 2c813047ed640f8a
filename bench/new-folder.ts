import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder that is there while it is used. Bundles run as nobody where this is root: everybody may pass through. */
export async function inNewFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'purser-bench-'))
  try {
    await chmod(folder, 0o755)
    return await use(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
