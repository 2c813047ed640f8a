import { spawn } from 'node:child_process'

/** Removes a folder though this process is about to end, and may not have the time for it: Vitest kills what does not end at once. */
export function removeLater(folder: string): void {
  spawn('rm', ['-rf', folder], { detached: true, stdio: 'ignore' }).unref()
}
