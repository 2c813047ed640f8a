import type { Plugin } from 'vitest/config'
import { type Mutation, mutations } from './mutations.ts'

/**
 * `MUTATION=<name> npx vitest run …` runs the tests against sources in which one guard is switched off. Fails loudly where
 * the guard's text is no longer there: a mutation that changes nothing proves nothing. The variable may change from one run
 * of a Vitest that stays open to the next.
 */
export function mutate(): Plugin {
  findMutation()
  return {
    name: 'mutate',
    enforce: 'pre',
    // What is compiled is kept for other runs, but for the file that is changed.
    configureVitest({ experimental_defineCacheKeyGenerator: define }) {
      define(({ id }) => (mutationOf(id) === undefined ? undefined : false))
    },
    transform(code, id) {
      const mutation = mutationOf(id)
      return mutation === undefined ? null : applyMutation(code, mutation)
    },
  }
}

function mutationOf(id: string): Mutation | undefined {
  const mutation = findMutation()
  return mutation !== undefined && id.split('?')[0]?.endsWith(`/${mutation.file}`) ? mutation : undefined
}

/** The one that is asked for; undefined where none is. */
export function findMutation(name: string | undefined = process.env.MUTATION): Mutation | undefined {
  if (name === undefined || name === '') return undefined
  const mutation = mutations.find(candidate => candidate.name === name)
  if (mutation === undefined)
    throw new Error(`MUTATION=${name}: there is no such mutation in test/mutation/mutations.ts`)
  return mutation
}

/** Every place where the text stands; none is an error. */
export function applyMutation(
  code: string,
  { name, file, find, replace }: Pick<Mutation, 'name' | 'file' | 'find' | 'replace'>,
): string {
  if (!code.includes(find)) throw new Error(`mutation "${name}": ${file} no longer holds the text\n${find}`)
  return code.replaceAll(find, replace)
}
