import { forgetNamesAfter } from '../../domain/replica-name.ts'
import type { NameAnswer, NameTaking, Store } from '../../store.ts'
import { toNameHolder } from '../columns.ts'
import type { Calls } from './database.ts'

export function createNames({ run, statements }: Calls): Pick<Store, `${string}Name` & keyof Store> {
  async function takeName(taking: NameTaking): Promise<NameAnswer> {
    const { name, owner, silence } = taking
    const [taken] = await run(statements.takeName, [name, owner, silence, forgetNamesAfter])
    if (taken !== undefined) return { taken: true, former: typeof taken.former === 'string' ? taken.former : undefined }
    const [row] = await run(statements.nameHolder, [name])
    // Forgotten in between: it is to be had.
    return row === undefined ? takeName(taking) : { taken: false, holder: toNameHolder(row), now: Number(row.now) }
  }

  return {
    takeName,
    async renewName(name, owner) {
      return (await run(statements.renewName, [name, owner])).length > 0
    },
    async releaseName(name, owner) {
      await run(statements.releaseName, [name, owner])
    },
  }
}

/** The fifth schema: the names that processes are started under. `former` is the owner before this one. */
export function nameSchema(schema: string): string {
  return `
create table ${schema}.replica (
  name text collate "C" primary key,
  owner text not null,
  since double precision not null,
  seen_at double precision,
  former text
);`
}
