import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'

/**
 * A temporary folder in memory, where there is enough of it: databases start and write much faster there, and no test needs
 * its data after the machine has gone down.
 *
 * @returns {{ TMPDIR?: string }} for the environment of the tests
 */
export function inMemory() {
  if (process.env.TMPDIR !== undefined) return {}
  try {
    const { bavail, bsize } = statfsSync('/dev/shm')
    if (bavail * bsize < 4 * 1024 ** 3) return {}
    // A short name: Podman refuses long paths.
    const folder = mkdtempSync('/dev/shm/pt-')
    // Open to all, as /tmp is: databases and bundles run as other users.
    chmodSync(folder, 0o1777)
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
    return { TMPDIR: folder }
  } catch {
    return {}
  }
}
