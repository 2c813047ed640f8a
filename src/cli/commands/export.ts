import { once } from 'node:events'
import type { CliCommand } from '../command.ts'
import type { CliIo } from '../io.ts'
import { brokeOff, refusal } from '../refusal.ts'
import { openSession, type SessionOptions } from '../session.ts'
import { showCount } from '../show-count.ts'

interface Flags extends SessionOptions {
  readonly store?: string
  readonly config?: string
  readonly withSecrets?: boolean
}

export function defineCommand(program: CliCommand): void {
  program
    .command('export')
    .description('write all rows of a store to stdout, a JSON object a line')
    .storeOptions()
    .option('--with-secrets', 'with parameters, state, credentials and step outputs: only then it can be imported')
    .brokerOptions()
    .explain(
      'All of it is of one moment, and brokers go on meanwhile. A SQLite file, and what is in memory, belongs to one',
      'process: while its broker runs, ask that one with --url. It needs the role admin.',
    )
    .examples(
      'purser export --store sqlite:purser.db --with-secrets > ledger.ndjson',
      'purser export --url https://broker.example.com --with-secrets > ledger.ndjson',
      'purser export --store sqlite:purser.db --with-secrets | purser import --store postgres://broker@db.example.com/purser',
    )
    .action(async ({ withSecrets: secrets = false, ...named }: Flags) => {
      if (named.url !== undefined || named.profile !== undefined) return exportOver(program.io, named, secrets)
      const { exportStore } = await import('../../server/move.ts')
      const { io } = program
      const progress = showCount(io, 'export rows')
      try {
        await exportStore(
          { ...named, env: io.env, cwd: io.cwd },
          { secrets, write: writer(io), onProgress: progress.update },
        )
      } finally {
        progress.stop()
      }
    })
}

/** From the broker that has the store. */
async function exportOver(io: CliIo, options: SessionOptions, secrets: boolean): Promise<void> {
  const { admin } = await openSession(io, options)
  const answer = await admin.export(secrets ? { with_secrets: 'true' } : {})
  if (!('pieces' in answer)) throw refusal('could not export the ledger', answer)
  const progress = showCount(io, 'export rows')
  const write = writer(io)
  const decoder = new TextDecoder()
  let rows = 0
  try {
    for await (const piece of answer.pieces) {
      const text = decoder.decode(piece, { stream: true })
      rows += text.split('\n').length - 1
      await write(text)
      progress.update(rows)
    }
  } catch (error) {
    throw brokeOff('the export', error)
  } finally {
    progress.stop()
  }
}

/** Waits for a reader that is slower, so that little of it is in memory. */
function writer({ stdout }: CliIo): (text: string) => Promise<void> | void {
  return text => {
    const isRoom = stdout.write(text)
    if (isRoom === false && 'once' in stdout) return once(stdout as NodeJS.WriteStream, 'drain').then(() => {})
  }
}
