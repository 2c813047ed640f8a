/** Where promtool comes from: the system, or Debian's package, which is unpacked and not installed: it would start a server. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { cache, mayInstall } from '../../scripts/machine.mjs'

const run = promisify(execFile)

let found: Promise<string> | undefined

/** Looked for once in each process; throws where there is none. */
export function findPromtool(): Promise<string> {
  found ??= find()
  return found
}

async function find(): Promise<string> {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const kept = join(cache, 'prometheus', 'promtool')
  const there = [...folders.map(folder => join(folder, 'promtool')), kept].find(file => existsSync(file))
  if (there !== undefined) return there
  if (!mayInstall) throw new Error('there is no promtool, and PURSER_TEST_INSTALL is no: put one on PATH')
  mkdirSync(join(kept, '..'), { recursive: true })
  const folder = mkdtempSync(join(cache, 'prometheus', 'download-'))
  try {
    await run('apt-get', ['-qq', 'download', 'prometheus'], { cwd: folder })
    const [name] = readdirSync(folder)
    if (name === undefined) throw new Error('apt-get brought no package')
    await run('dpkg', ['-x', name, '.'], { cwd: folder })
    renameSync(join(folder, 'usr', 'bin', 'promtool'), kept)
    return kept
  } catch (error) {
    throw new Error('there is no promtool: put one on PATH, or run "apt-get update" as root', { cause: error })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What it printed; throws with it where it says that something is wrong. */
export async function runPromtool(args: readonly string[], input = ''): Promise<string> {
  const promtool = await findPromtool()
  return new Promise((resolve, reject) => {
    const child = execFile(promtool, args, (error, stdout, stderr) =>
      error ? reject(new Error(`promtool ${args.join(' ')}:\n${stdout}${stderr}`)) : resolve(stdout + stderr),
    )
    child.stdin?.end(input)
  })
}
