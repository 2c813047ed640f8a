import { randomUUID } from 'node:crypto'
import { wrongUsage } from './cli-error.ts'

/** The id as it was given, if a URL can carry it. */
export function checkId(kind: 'instance' | 'binding', id: string): string {
  if (id !== '' && id !== '.' && id !== '..') return id
  throw wrongUsage({
    what: `"${id}" cannot be the id of ${kind === 'instance' ? 'an instance' : 'a binding'}`,
    why: 'a URL cannot carry it',
    next: 'Give the id that was printed when it was made, or leave --id off for a random one.',
  })
}

export function chooseId(kind: 'instance' | 'binding', given: string | undefined): string {
  return given === undefined ? randomUUID() : checkId(kind, given)
}
