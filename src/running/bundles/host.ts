import { randomUUID } from 'node:crypto'
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'

/**
 * What the ledger calls the place that sandboxes are in. It is kept in the folder that they are in: a machine may change
 * its name, and a container does whenever it is made anew.
 */
export async function readHost(folder: string): Promise<string> {
  const file = join(folder, 'host')
  const draft = `${file}.${randomUUID()}`
  await writeFile(draft, `${hostname()}/${randomUUID().slice(0, 8)}\n`, { flush: true })
  try {
    // The first process that comes here gives the name; a link cannot replace a file.
    await link(draft, file)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  } finally {
    await rm(draft, { force: true })
  }
  return (await readFile(file, 'utf8')).trim()
}
