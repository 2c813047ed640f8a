import type { CleanUp } from '../../store.ts'
import type { Calls } from './database.ts'

export async function cleanUp({ run, statements }: Calls, { of, states, before, max }: CleanUp): Promise<number> {
  const [row] = await run(statements.cleanUp, [of, states, before, Math.max(0, max)])
  return Number(row?.removed)
}
