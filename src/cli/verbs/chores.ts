import type { ChoreBody } from '../../client/index.ts'
import { sleep } from '../../clock.ts'
import { failure, wrongUsage } from '../cli-error.ts'
import type { CliIo } from '../io.ts'
import { refusal } from '../refusal.ts'
import { describeResult, renderChores } from '../render/chores.ts'
import type { ConnectionOptions, Session } from '../session.ts'
import { openSession, present } from '../session.ts'

export async function listChores(io: CliIo, options: ConnectionOptions): Promise<void> {
  const session = openSession(io, options)
  const chores = await readChores(session)
  session.print({ chores }, renderChores(chores))
}

/** Begins a run and waits for its end, in whichever replica that is. */
export async function runChore(io: CliIo, name: string, options: ConnectionOptions): Promise<void> {
  const session = openSession(io, options)
  if (/^\.{0,2}$/.test(name))
    throw wrongUsage({
      what: `"${name}" cannot be the name of a chore`,
      why: 'a URL cannot carry it',
      next: 'purser chores list shows the chores there are.',
    })
  const response = await session.admin.runChore(name)
  if (response.status !== 202) throw refusal(`could not run the chore ${name}`, response)
  const chore = await watchChore(session, name, response.body.due_at ?? '')
  if (chore.ok === false)
    throw failure({
      what: `the chore ${name} failed`,
      why: chore.message ?? 'the broker gave no reason',
      next: 'The log of the broker says more; run it again when the reason is gone.',
    })
  const { started_at, finished_at, message } = chore
  session.print(present({ name, ok: true, message, started_at, finished_at }), `${describeResult(chore)}\n`)
}

const pauseMs = 500

/** Waits until the run that was begun at `dueAt` has ended. */
export async function watchChore(session: Session, name: string, dueAt: string): Promise<ChoreBody> {
  const { io } = session
  const interrupt = new AbortController()
  const stopListening = io.onInterrupt(() => interrupt.abort())
  try {
    while (true) {
      const chore = (await readChores(session)).find(candidate => candidate.name === name)
      // A later run on the list means that ours has ended too.
      if (chore?.finished_at !== undefined && (chore.due_at ?? '') >= dueAt) return chore
      await sleep(io.clock, pauseMs, interrupt.signal)
      if (interrupt.signal.aborted)
        throw failure({
          what: `stopped waiting for the chore ${name}`,
          why: 'interrupted; the broker goes on with it',
          next: 'purser chores list shows how it ends.',
        })
    }
  } finally {
    stopListening()
  }
}

async function readChores(session: Session): Promise<readonly ChoreBody[]> {
  const response = await session.admin.chores()
  const { chores } = response.body
  if (response.status !== 200 || !Array.isArray(chores)) throw refusal('could not read the chores', response)
  return chores
}
