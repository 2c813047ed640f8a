import { randomUUID } from 'node:crypto'
import { wrongUsage } from './cli-error.ts'

/** The id as it was given, if a URL can hold it. */
export function checkId(kind: 'instance' | 'binding', id: string): string {
  const what = kind === 'instance' ? 'the id of an instance' : 'the id of a binding'
  return checkName(id, what, 'Give the id that was printed when it was made, or leave --id off for a random one.')
}

export function chooseId(kind: 'instance' | 'binding', given: string | undefined): string {
  return given === undefined ? randomUUID() : checkId(kind, given)
}

/** URLs drop the path segments "." and "..". */
export function checkName(name: string, what: string, next: string): string {
  if (name !== '' && name !== '.' && name !== '..') return name
  throw wrongUsage({ what: `"${name}" cannot be ${what}`, why: 'a URL cannot hold it', next })
}
