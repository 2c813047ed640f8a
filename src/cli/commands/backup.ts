import { createWriteStream, existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { wrongUsage } from '../cli-error.ts'
import type { CliCommand } from '../command.ts'
import type { CliIo } from '../io.ts'
import { brokeOff, refusal } from '../refusal.ts'
import { openSession, type SessionOptions } from '../session.ts'
import { showProgress } from '../show-progress.ts'

interface Flags extends SessionOptions {
  readonly store?: string
  readonly config?: string
}

export function defineCommand(program: CliCommand): void {
  program
    .command('backup')
    .argument('<file>', 'where the copy is written; it must not be there')
    .description('copy the file of a SQLite store')
    .storeOptions()
    .brokerOptions()
    .explain('While its broker runs, ask that one with --url. It needs the role admin.')
    .examples(
      'purser backup backup/purser.db --url https://broker.example.com',
      'purser backup backup/purser.db --store sqlite:data/purser.db',
    )
    .action(async (file: string, named: Flags) => {
      if (named.url !== undefined || named.profile !== undefined) return backupOver(program.io, named, file)
      const { backupStore } = await import('../../server/move.ts')
      const { io } = program
      const display = showProgress(io, 'copy the store')
      try {
        const name = await backupStore({ ...named, env: io.env, cwd: io.cwd }, resolve(io.cwd, file))
        display.stop()
        io.stdout.write(`${name} was copied to ${file}.\n`)
      } finally {
        display.stop()
      }
    })
}

/** A part has another name until all of it is there. */
async function backupOver(io: CliIo, options: SessionOptions, file: string): Promise<void> {
  const { admin, client } = await openSession(io, options)
  const target = resolve(io.cwd, file)
  if (existsSync(target))
    throw wrongUsage({
      what: `${file} is there already`,
      why: 'a backup goes over nothing',
      next: 'Name another file.',
    })
  const display = showProgress(io, 'copy the store')
  const part = `${target}.part`
  try {
    const answer = await admin.backup()
    if (!('pieces' in answer)) throw refusal('could not copy the store', answer)
    await pipeline(answer.pieces, createWriteStream(part, { mode: 0o600 })).catch(error => {
      throw brokeOff('the backup', error)
    })
    await rename(part, target)
  } finally {
    display.stop()
    await rm(part, { force: true })
  }
  io.stdout.write(`The store of ${client.url} was copied to ${file}.\n`)
}
