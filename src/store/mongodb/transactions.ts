import type { ClientSession, MongoClient, TransactionOptions } from 'mongodb'
import { type Clock, sleep } from '../../clock.ts'
import { pauseAfter } from '../../domain/retry.ts'
import { StoreUnavailableError } from '../../store.ts'
import { hasLabel, isCode, isSocketError, serverCodes } from './driver.ts'
import { createGate } from './turns.ts'

export interface Transactions {
  /**
   * Runs the body in a transaction of its own, and again on a conflict with another one: all that the body does is read
   * and write in the session, and decide. What it throws itself ends the transaction without a trace.
   */
  run<Result>(body: (session: ClientSession) => Promise<Result>): Promise<Result>
}

export interface TransactionSettings {
  readonly clock: Clock
  /** How long conflicts are met with another attempt, and a commit without an answer is sent again. */
  readonly timeoutMs: number
  /** How many run at once; more would only wait for connections with their locks taken. */
  readonly width: number
}

export function createTransactions(
  client: MongoClient,
  { clock, timeoutMs, width }: TransactionSettings,
): Transactions {
  const pass = createGate(width)
  // With a majority's word on the commit, what a snapshot showed is a majority's too: also where nothing was written.
  const options: TransactionOptions = {
    readConcern: { level: 'snapshot' },
    writeConcern: { w: 'majority', journal: true, wtimeoutMS: timeoutMs },
    readPreference: 'primary',
  }

  async function attempt<Result>(
    session: ClientSession,
    deadline: number,
    body: (session: ClientSession) => Promise<Result>,
  ): Promise<Result> {
    session.startTransaction(options)
    let result: Result
    try {
      result = await body(session)
    } catch (error) {
      // The error that led here says more than one of the abort, and the server ends by itself what cannot be ended.
      await session.abortTransaction().catch(() => {})
      throw error
    }
    await commit(session, deadline)
    return result
  }

  /**
   * A commit without an answer is sent again, which the server takes for the same one. A new attempt follows only where
   * the server then says that nothing was committed.
   */
  async function commit(session: ClientSession, deadline: number): Promise<void> {
    for (let round = 0; ; round += 1) {
      try {
        await session.commitTransaction()
        return
      } catch (error) {
        if (!isInDoubt(error)) throw error
        if (clock.now() >= deadline) throw new StoreUnavailableError(inDoubt, { cause: error })
        await sleep(clock, pauseMs(round))
      }
    }
  }

  return {
    run(body) {
      const latest = clock.now() + timeoutMs
      return pass(async () => {
        if (clock.now() >= latest)
          throw new StoreUnavailableError('the database does not keep up with what is asked of it')
        const deadline = clock.now() + timeoutMs
        const session = client.startSession()
        try {
          for (let round = 0; ; round += 1) {
            try {
              return await attempt(session, deadline, body)
            } catch (error) {
              if (!mayRunAgain(error) || clock.now() >= deadline) throw error
              await sleep(clock, pauseMs(round))
            }
          }
        } finally {
          await session.endSession()
        }
      })
    },
  }
}

const inDoubt =
  'the database did not say whether it wrote: look at what is there when it answers again, or ask for the same again'

function isInDoubt(error: unknown): boolean {
  return hasLabel(error, 'UnknownTransactionCommitResult') || isSocketError(error)
}

function mayRunAgain(error: unknown): boolean {
  if (hasLabel(error, 'UnknownTransactionCommitResult')) return false
  return hasLabel(error, 'TransientTransactionError') || isSocketError(error) || isLostRace(error)
}

/** Two that make the same document at once: the second is told of a duplicate, and finds the document next time. */
function isLostRace(error: unknown): boolean {
  if (!isCode(error, serverCodes.duplicateKey)) return false
  const { keyPattern } = error as { keyPattern?: object }
  return keyPattern !== undefined && '_id' in keyPattern
}

/** Full jitter, so that those who met do not meet again. */
function pauseMs(round: number): number {
  return Math.ceil(Math.random() * pauseAfter(round + 1, { initial: 4, max: 200 }))
}
