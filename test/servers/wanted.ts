/**
 * Why the tests of a store can't run here; undefined where they can. STORES (`memory,sqlite,postgres`) names the stores that
 * must be tested: one that is named and not to be had is a failure, one that is not named is left out. Without STORES
 * every store is tested that is to be had.
 */
export async function whyNot(store: string, find: () => Promise<unknown>): Promise<string | undefined> {
  const named = process.env.STORES?.split(',').map(name => name.trim())
  if (named !== undefined && !named.includes(store)) return `STORES is ${process.env.STORES}`
  try {
    await find()
    return undefined
  } catch (error) {
    if (named !== undefined) throw error
    return error instanceof Error ? error.message : String(error)
  }
}
