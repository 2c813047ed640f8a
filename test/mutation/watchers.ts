import { readFileSync, writeFileSync } from 'node:fs'
import { type Mutation, mutations } from './mutations.ts'

/** A test that has failed while the guard was switched off. */
export interface Watcher {
  readonly file: string
  /** With the names of the groups that it is in. */
  readonly test: string
}

/** By file, and by the name of the mutation. */
type Recorded = Record<string, Record<string, string>>

const record = new URL('watchers.json', import.meta.url)

export const recorded: Readonly<Recorded> = JSON.parse(readFileSync(record, 'utf8'))

/** A record of a file that is no longer in the suite counts for nothing. */
export function findWatcher({ name, suite }: Mutation): Watcher | undefined {
  return suite.flatMap(file => {
    const test = recorded[file]?.[name]
    return test === undefined ? [] : { file, test }
  })[0]
}

/** Keeps those of other mutations, and forgets mutations that are gone. */
export function recordWatchers(found: ReadonlyMap<string, Watcher>): void {
  const files: Recorded = {}
  for (const mutation of mutations) {
    const watcher = found.get(mutation.name) ?? findWatcher(mutation)
    if (watcher === undefined) continue
    files[watcher.file] ??= {}
    Object.assign(files[watcher.file] ?? {}, { [mutation.name]: watcher.test })
  }
  writeFileSync(record, `${JSON.stringify(files, null, 2)}\n`)
}
