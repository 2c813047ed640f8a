import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { RuntimeUnavailableError } from '../../sandbox.ts'
import { searchPath } from './containment.ts'

/** The command that starts a supervisor; the sandbox's folder is added to it. */
export const defaultSupervisor: readonly string[] = [
  process.execPath,
  fileURLToPath(new URL('./supervisor.js', import.meta.url)),
]

/** Resolves when the sandbox has an owner. The supervisor gets nothing of the broker's: no variables, no open files. */
export async function launchSupervisor([command = '', ...args]: readonly string[], folder: string): Promise<void> {
  const child = spawn(command, [...args, folder], {
    cwd: '/',
    env: { PATH: searchPath },
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  child.unref()
  const said = await Promise.race([text(child.stdout), once(child, 'error').then(([error]) => String(error))])
  if (said !== 'ready\n')
    throw new RuntimeUnavailableError(
      `the supervisor of ${folder} did not start (${said.trim() || 'it said nothing'}); look at the disk and the folder's rights`,
    )
}
