import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { CliCommand } from '../command.ts'
import { readNamedFile } from '../parameters.ts'
import { renderFields } from '../render/fields.ts'
import { showCount } from '../show-count.ts'

interface Flags {
  readonly store?: string
  readonly config?: string
}

export function defineCommand(program: CliCommand): void {
  program
    .command('import')
    .argument('[file]', 'what purser export has written (default: stdin)')
    .description('read an export into an empty store')
    .storeOptions()
    .explain(
      'Stop the brokers of both stores first. If it is interrupted, give it the same file again: it goes on where it',
      'stopped. No broker starts on a store with half of an import.',
    )
    .examples(
      'purser import --store postgres://broker@db.example.com/purser ledger.ndjson',
      'purser import --config purser.yaml < ledger.ndjson',
    )
    .action(async (file: string | undefined, named: Flags) => {
      const { importStore } = await import('../../server/move.ts')
      const { io } = program
      const path = file === undefined ? undefined : resolve(io.cwd, file)
      const size = path === undefined ? 0 : (await readNamedFile('the argument', () => stat(path))).size
      const input = path === undefined ? io.stdin : createReadStream(path)
      const progress = showCount(io, 'import rows')
      // By how much of the file was read, where it is a file.
      const totalOf = (rows: number) =>
        size > 0 && 'bytesRead' in input ? Math.ceil((rows * size) / Math.max(1, Number(input.bytesRead))) : undefined
      try {
        const choice = { ...named, env: io.env, cwd: io.cwd }
        const { counts, resumedAfter } = await importStore(choice, input, rows => progress.update(rows, totalOf(rows)))
        progress.stop()
        if (resumedAfter > 0) io.stderr.write(`It went on after line ${resumedAfter}.\n`)
        io.stdout.write(renderFields({ ...counts }))
      } finally {
        progress.stop()
      }
    })
}
