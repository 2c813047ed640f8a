import { describe, expect, it } from 'vitest'
import type { WakeUp } from '../../store.ts'
import { createGroupCommit, type Job } from './group-commit.ts'

class DatabaseError extends Error {}

/** A database of one list, with the transactions that the group commit asks for. */
function createDatabase({ failingCommits = 0 } = {}) {
  const calls: string[] = []
  let committed: string[] = []
  let pending: string[] = []
  let failures = failingCommits
  return {
    calls,
    rows: () => committed,
    insert(row: string) {
      if (row === 'bad') throw new DatabaseError('bad row')
      pending.push(row)
    },
    begin() {
      calls.push('begin')
      pending = [...committed]
    },
    commit() {
      if (failures > 0) {
        failures -= 1
        throw new DatabaseError('the disk is full')
      }
      calls.push('commit')
      committed = pending
    },
    rollback: () => void calls.push('rollback'),
    isDatabaseError: (error: unknown) => error instanceof DatabaseError,
    translate: (error: unknown) => error,
  }
}

function create(options?: { failingCommits?: number }) {
  const database = createDatabase(options)
  const woken: WakeUp[][] = []
  const commits = createGroupCommit(database, wakeUps => woken.push([...wakeUps]))
  const insert =
    (row: string): Job<string> =>
    wake =>
    () => {
      database.insert(row)
      wake.push({ type: 'finished', operationId: row })
      return row
    }
  return { database, commits, woken, insert }
}

describe('the group commit', () => {
  it('runs the jobs of one turn in one transaction, in order', async () => {
    const { database, commits, insert } = create()
    expect(await Promise.all(['a', 'b', 'c'].map(row => commits.run(insert(row))))).toEqual(['a', 'b', 'c'])
    expect(database.calls).toEqual(['begin', 'commit'])
    expect(database.rows()).toEqual(['a', 'b', 'c'])
  })

  it('waits for those that come in the next turns of the event loop, while each turn brings one', async () => {
    const { database, commits, insert } = create()
    const written = [commits.run(insert('a'))]
    for (const row of ['b', 'c']) {
      await new Promise(setImmediate)
      written.push(commits.run(insert(row)))
    }
    expect(await Promise.all(written)).toEqual(['a', 'b', 'c'])
    expect(database.calls).toEqual(['begin', 'commit'])
  })

  it('does not wait for ever when more keep coming', async () => {
    const { database, commits, insert } = create()
    const written = [commits.run(insert('0'))]
    for (let turn = 1; database.rows().length === 0 && turn < 100; turn += 1) {
      await new Promise(setImmediate)
      written.push(commits.run(insert(String(turn))))
    }
    expect(database.rows()).not.toEqual([])
    expect(database.rows().length).toBeLessThan(20)
    await Promise.all(written)
  })

  it('rejects a decision that throws alone, without a rollback', async () => {
    const { database, commits, insert } = create()
    const refused: Job<string> = () => {
      throw new Error('refused')
    }
    const outcomes = await Promise.allSettled([
      commits.run(insert('a')),
      commits.run(refused),
      commits.run(insert('b')),
    ])
    expect(outcomes.map(outcome => outcome.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(database.calls).toEqual(['begin', 'commit'])
  })

  it('rolls back and runs the jobs one by one when a write fails', async () => {
    const { database, commits, insert, woken } = create()
    const outcomes = await Promise.allSettled(['a', 'bad', 'b'].map(row => commits.run(insert(row))))
    expect(outcomes.map(outcome => outcome.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(database.rows()).toEqual(['a', 'b'])
    expect(database.calls).toEqual(['begin', 'rollback', 'begin', 'commit', 'begin', 'rollback', 'begin', 'commit'])
    expect(woken.flat().map(wakeUp => 'operationId' in wakeUp && wakeUp.operationId)).toEqual(['a', 'b'])
  })

  it('does the same when the commit fails', async () => {
    const { database, commits, insert, woken } = create({ failingCommits: 2 })
    const outcomes = await Promise.allSettled(['a', 'b', 'c'].map(row => commits.run(insert(row))))
    expect(outcomes.map(outcome => outcome.status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
    expect(database.rows()).toEqual(['b', 'c'])
    expect(woken.flat()).toHaveLength(2)
  })

  it('does not trust a transaction in which a read of the database failed', async () => {
    const { database, commits, insert } = create()
    const broken: Job<string> = () => {
      throw new DatabaseError('input/output error')
    }
    const outcomes = await Promise.allSettled([commits.run(insert('a')), commits.run(broken), commits.run(insert('b'))])
    expect(outcomes.map(outcome => outcome.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(database.calls.slice(0, 2)).toEqual(['begin', 'rollback'])
    expect(database.rows()).toEqual(['a', 'b'])
  })

  it('splits what is too much for one transaction', async () => {
    const { database, commits, insert } = create()
    const rows = Array.from({ length: 1200 }, (_, index) => `${index}`)
    expect(await Promise.all(rows.map(row => commits.run(insert(row))))).toEqual(rows)
    expect(database.calls.filter(call => call === 'commit')).toHaveLength(3)
    expect(database.rows()).toEqual(rows)
  })

  it('does at once what is queued when asked to', async () => {
    const { database, commits, insert } = create()
    const promise = commits.run(insert('a'))
    commits.flush()
    expect(database.rows()).toEqual(['a'])
    expect(await promise).toBe('a')
  })
})
