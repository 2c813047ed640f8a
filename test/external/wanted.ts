/**
 * Why the tests of a store cannot run here; undefined where they can. STORES (`memory,sqlite,postgres`) names the stores that
 * must be tested: one that is named and not to be had is a failure, one that is not named is left out. Without STORES
 * every store is tested that is to be had. Other variables name other things in the same way.
 */
export async function whyNot(
  name: string,
  find: () => Promise<unknown>,
  variable = 'STORES',
): Promise<string | undefined> {
  const value = process.env[variable]
  const named = value?.split(',').map(part => part.trim())
  if (named !== undefined && !named.includes(name)) return `${variable} is ${value}`
  try {
    await find()
    return undefined
  } catch (error) {
    if (named !== undefined) throw error
    return error instanceof Error ? error.message : String(error)
  }
}
