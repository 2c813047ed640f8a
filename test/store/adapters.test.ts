import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const stores = join(import.meta.dirname, '..', '..', 'src', 'store')

/** One file for each job, under the same name in every store. Whoever knows one store finds the place in another. */
const jobs = [
  'index.ts',
  'store.ts',
  'accept.ts',
  'claim.ts',
  'progress.ts',
  'share.ts',
  'chores.ts',
  'clean-up.ts',
  'purge.ts',
  'marketplace.ts',
  'reads.ts',
  'lists.ts',
]
/** What a store on a database has besides. */
const databaseJobs = ['open.ts', 'driver.ts', 'failures.ts', 'migrations.ts', 'rows.ts']

const adapters = readdirSync(stores, { withFileTypes: true })
  .filter(entry => entry.isDirectory())
  .map(({ name }) => name)

describe('adapters of stores', () => {
  it('are the four that there are', () => {
    expect(adapters.sort()).toEqual(['memory', 'mongodb', 'postgres', 'sqlite'])
  })

  it.each(adapters)('%s has every job in the file that is named for it', name => {
    const wanted = name === 'memory' ? jobs : [...jobs, ...databaseJobs]
    expect(wanted.filter(file => !existsSync(join(stores, name, file)))).toEqual([])
  })

  it.each(adapters)('%s puts its parts together in store.ts, and nowhere else', name => {
    const text = readFileSync(join(stores, name, 'store.ts'), 'utf8')
    for (const job of jobs.slice(2)) expect(text).toContain(`from './${job}'`)
  })
})
