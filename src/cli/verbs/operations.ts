import { wrongUsage } from '../cli-error.ts'
import type { CliIo } from '../io.ts'
import { refusal } from '../refusal.ts'
import { renderLog } from '../render/operation-log.ts'
import { type ConnectionOptions, openSession } from '../session.ts'

export async function showLog(io: CliIo, id: string, options: ConnectionOptions): Promise<void> {
  if (/^\.{0,2}$/.test(id))
    throw wrongUsage({
      what: `"${id}" cannot be the id of an operation`,
      why: 'a URL cannot carry it',
      next: 'Give the operation that the broker answered with its 202.',
    })
  const session = openSession(io, options)
  const response = await session.admin.operationLog(id)
  const { runs } = response.body
  if (response.status !== 200 || !Array.isArray(runs)) throw refusal(`could not read the log of ${id}`, response)
  if (runs.length === 0 && options.output === 'text')
    session.note('No run of a bundle has ended in this operation: there is no log.')
  session.print(response.body, renderLog(runs))
}
