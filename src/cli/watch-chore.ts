import type { ChoreBody } from '../client/index.ts'
import { sleep } from '../clock.ts'
import { interruptible } from './io.ts'
import { refusal } from './refusal.ts'
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

export async function readChores(session: Session): Promise<readonly ChoreBody[]> {
  const response = await session.admin.chores()
  const { chores } = response.body
  if (response.status !== 200 || !Array.isArray(chores)) throw refusal('could not read the chores', response)
  return chores
}
