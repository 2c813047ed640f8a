import type { Plugin } from 'vitest/config'
import { type Mutation, mutations } from './mutations.ts'

/**
 * `MUTATION=<name> npx vitest run …` runs the tests against sources in which one guard is switched off. Fails loudly where
 * the guard's text is no longer there: a mutation that changes nothing proves nothing.
 */
export function mutate(): Plugin {
  const mutation = findMutation()
  if (mutation === undefined) return { name: 'mutate' }
  return {
    name: 'mutate',
    enforce: 'pre',
    // Other runs take what they keep of all files from here, but for this one.
    configureVitest({ experimental_defineCacheKeyGenerator: define }) {
      define(({ id }) => (isMutated(id) ? false : undefined))
    },
    transform: (code, id) => (isMutated(id) ? applyMutation(code, mutation) : null),
  }
  function isMutated(id: string): boolean {
    return id.split('?')[0]?.endsWith(`/${mutation?.file}`) === true
  }
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
