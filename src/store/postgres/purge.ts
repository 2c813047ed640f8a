import type { Calls } from './database.ts'

export async function purge({ run, statements }: Calls, before: number, max: number): Promise<number> {
  const [row] = await run(statements.purge, [before, Math.max(0, max)])
  return Number(row?.removed)
}
