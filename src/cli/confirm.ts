import { createInterface } from 'node:readline'
import { declined, wrongUsage } from './cli-error.ts'
import type { Session } from './session.ts'

/** Asks a person before something that cannot be taken back. Where nobody can be asked, the command line has to say it. */
export async function confirm({ io }: Session, question: string, isSure: boolean | undefined): Promise<void> {
  if (isSure === true) return
  if (io.stdin.isTTY !== true)
    throw wrongUsage({
      what: 'nothing was done',
      why: 'this cannot be taken back, and there is no terminal to ask on',
      next: 'Repeat the command with --yes.',
    })
  io.stderr.write(`${question} [y/N] `)
  const lines = createInterface({ input: io.stdin, historySize: 0 })
  try {
    for await (const line of lines)
      if (/^\s*y(es)?\s*$/i.test(line)) return
      else break
  } finally {
    lines.close()
  }
  throw declined({ what: 'nothing was done', why: 'it was not confirmed', next: 'Answer y, or give --yes.' })
}
