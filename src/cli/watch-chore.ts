import type { ChoreBody } from '../client/index.ts'
import { sleep } from '../clock.ts'
import { failure } from './cli-error.ts'
import { interruptible } from './io.ts'
import { refusal } from './refusal.ts'
import { describeResult } from './render/tables.ts'
import type { Session } from './session.ts'

const pause = 500

/** Waits until the run that was begun at `dueAt` has ended, in whichever replica that is. */
export function watchChore(session: Session, name: string, dueAt = ''): Promise<ChoreBody> {
  const stopped = {
    what: `stopped waiting for the chore ${name}`,
    why: 'interrupted; the broker goes on with it',
    next: 'purser chores list shows how it ends.',
  }
  return interruptible(session.io, stopped, async signal => {
    while (true) {
      const chore = (await readChores(session)).find(candidate => candidate.name === name)
      // A later run on the list means that ours has ended too.
      if (chore?.finished_at !== undefined && (chore.due_at ?? '') >= dueAt) return chore
      await sleep(session.io.clock, pause, signal)
      signal.throwIfAborted()
    }
  })
}

/** Waits for the run and prints how it has ended. */
export async function reportChore(session: Session, name: string, dueAt: string | undefined): Promise<void> {
  const chore = await watchChore(session, name, dueAt)
  const { started_at, finished_at, message } = chore
  if (chore.ok === false)
    throw failure({
      what: `the chore ${name} failed`,
      why: message ?? 'the broker gave no reason',
      next: 'The log of the broker says more; run it again when the reason is gone.',
    })
  session.print({ name, ok: true, message, started_at, finished_at }, `${describeResult(chore)}\n`)
}

export async function readChores(session: Session): Promise<readonly ChoreBody[]> {
  const response = await session.admin.chores()
  const { chores } = response.body
  if (response.status !== 200 || !Array.isArray(chores)) throw refusal('could not read the chores', response)
  return chores
}
