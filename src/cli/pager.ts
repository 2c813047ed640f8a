import { spawn } from 'node:child_process'
import type { CliIo } from './io.ts'

/**
 * Shows a text in the pager of its reader: on a terminal, where the text is longer than that. `PAGER` is the command, and an
 * empty one or `cat` means none. Answers false where the text is still to be printed.
 */
export async function showInPager(io: CliIo, text: string): Promise<boolean> {
  const command = pagerFor(io, text)
  if (command === undefined) return false
  // As git does it: what fits ends at once, colours stay, and the text is still there afterwards.
  const { LESS = 'FRX' } = io.env
  const env = { ...io.env, LESS }
  // A command that somebody has named goes through the shell, which also says what is wrong with it.
  const shell = io.env.PAGER !== undefined
  const child = spawn(command, { shell, stdio: ['pipe', 'inherit', 'inherit'], env })
  // Who has read enough closes it before it has read everything.
  child.stdin.on('error', () => {})
  child.stdin.end(text)
  // The pager has the keyboard: Ctrl-C is for it.
  const stopListening = io.onInterrupt(() => {})
  try {
    return await new Promise<boolean>(resolve => {
      child.on('error', () => resolve(false))
      // The shell's own: there is no such command, and nothing was shown.
      child.on('close', code => resolve(code !== 126 && code !== 127))
    })
  } finally {
    stopListening()
  }
}

/** The command; undefined where the text needs none, or nobody could use it. */
export function pagerFor({ stdin, stdout, env }: CliIo, text: string): string | undefined {
  const { rows = Number.POSITIVE_INFINITY } = stdout
  const isRead = stdin.isTTY === true && stdout.isTTY === true && env.TERM !== 'dumb'
  // The prompt needs a line, too: the last one, which is empty.
  if (!isRead || text.split('\n').length <= rows) return undefined
  const command = (env.PAGER ?? 'less').trim()
  return command === '' || command === 'cat' ? undefined : command
}
