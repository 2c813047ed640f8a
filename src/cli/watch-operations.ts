import type { OperationBody } from '../client/index.ts'
import { sleep } from '../clock.ts'
import { interruptible, isLive } from './io.ts'
import { refusal } from './refusal.ts'
import { renderOperations } from './render/operators.ts'
import type { Session } from './session.ts'

const pause = 1_000
const most = '50'

/** On a terminal the table is drawn again in its place; else there is a line of JSON for each change. Ends with Ctrl-C. */
export async function watchOperations(session: Session, flags: { readonly instance?: string }): Promise<void> {
  const { io, options } = session
  // The table goes to stdout: what reads it there from a pipe wants lines, also where a person sees stderr.
  const inPlace = isLive(io) && io.stdout.isTTY === true && options.output === 'text'
  const known = new Map<string, string>()
  let drawn = 0
  const stopped = { what: 'stopped watching', why: 'interrupted', next: 'purser operations list shows how they stand.' }
  await interruptible(io, stopped, async signal => {
    for (;;) {
      const items = await read(session, flags.instance)
      if (inPlace) {
        const text = renderOperations(items)
        io.stdout.write(`${drawn === 0 ? '' : `\u001b[${drawn}A\u001b[J`}${text}`)
        drawn = text.split('\n').length - 1
      } else {
        for (const item of items.toReversed()) {
          const line = JSON.stringify(item)
          if (known.get(item.id) !== line && options.output !== 'none') io.stdout.write(`${line}\n`)
          known.set(item.id, line)
        }
      }
      await sleep(io.clock, pause, signal)
      signal.throwIfAborted()
    }
  })
}

/** The newest first, and what has been at work for longer. */
async function read({ admin }: Session, instance_id: string | undefined): Promise<readonly OperationBody[]> {
  const pages = await Promise.all(
    [{}, { state: 'running' }, { state: 'queued' }].map(query =>
      admin.operations({ instance_id, limit: most, ...query }),
    ),
  )
  const refused = pages.find(({ status, body }) => status !== 200 || !Array.isArray(body.items))
  if (refused !== undefined) throw refusal('could not list operations', refused)
  const all = new Map(pages.flatMap(({ body }) => (body.items ?? []).map(item => [item.id, item] as const)))
  return [...all.values()].sort((one, other) => (one.accepted_at < other.accepted_at ? 1 : -1)).slice(0, Number(most))
}
