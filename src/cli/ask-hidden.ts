import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { failure } from './cli-error.ts'
import type { CliIo } from './io.ts'

/** Asks on stderr and reads one line without showing it. */
export function askHidden(io: CliIo, question: string): Promise<string> {
  io.stderr.write(question)
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: io.stdin, output: nowhere, terminal: true, historySize: 0 })
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      lines.removeAllListeners()
      lines.close()
      io.stderr.write('\n')
      settle()
    }
    const stopped = () => reject(failure({ what: 'no password was given', why: 'interrupted', next: 'Run it again.' }))
    lines.once('line', line => end(() => resolve(line)))
    lines.once('SIGINT', () => end(stopped))
    lines.once('close', () => end(stopped))
  })
}
