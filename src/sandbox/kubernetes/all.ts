/**
 * Ends when all have ended, and then throws what the first one threw, as `Promise.all` does not: whoever takes back what was
 * made must not be overtaken by a call that is still on its way.
 */
export async function all(calls: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(calls)).find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}
