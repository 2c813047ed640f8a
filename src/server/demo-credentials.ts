import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sensitive } from '../sensitive/sensitive.ts'
import type { Config } from './config.ts'

export const demoUser = 'demo'
export const demoPasswordFile = 'demo-password'

/** One user whose password is chosen once and kept in a file that only this user can read: commands can be pasted again. */
export async function demoCredentials(folder: string): Promise<Config['auth']['basic']> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, demoPasswordFile)
  // At the first start there is none.
  let password = (await readFile(file, 'utf8').catch(() => '')).trim()
  if (password === '') {
    password = randomBytes(18).toString('base64url')
    await writeFile(file, `${password}\n`, { mode: 0o600 })
  }
  return [{ username: demoUser, password: sensitive(password), platform: 'default', roles: ['platform', 'admin'] }]
}
