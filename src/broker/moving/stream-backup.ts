import { createReadStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { BrokerError } from '../../protocol/errors.ts'
import type { BrokerContext } from '../context.ts'

/** A copy of the store's file, made at one moment. It is in a folder of its own until it is read. */
export async function streamBackup({ store }: BrokerContext): Promise<Readable> {
  const { moving, name } = store
  if (moving?.backup === undefined)
    throw new BrokerError('VerbRefused', `${name} is not a file: use the backups of its server, or purser export.`)
  const folder = await mkdtemp(join(tmpdir(), 'purser-backup-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    const file = join(folder, 'purser.db')
    await moving.backup(file)
    const stream = createReadStream(file)
    stream.once('close', () => void remove())
    return stream
  } catch (error) {
    await remove()
    throw error
  }
}
