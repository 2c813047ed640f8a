import type { Mutation } from './mutation.ts'

const only = 'catalog:|pins:|concurrency: (of twenty changes|an instance is pinned)'
const memory = { only, suite: ['test/store/memory.test.ts'], file: 'src/store/memory/marketplace.ts' }
const sqlite = { only, suite: ['test/store/sqlite.test.ts'] }
const statements = { ...sqlite, file: 'src/store/sqlite/statements.ts' }
const postgres = { needs: 'postgres', file: 'src/store/postgres/catalog-schema.ts' } as const
const postgresContract = { ...postgres, suite: ['test/store/postgres.test.ts'], only: 'pins:' }
const postgresReplicas = { ...postgres, suite: ['test/store/postgres-catalog.test.ts'] }
const mongodb = { needs: 'mongodb', file: 'src/store/mongodb/change-catalog.ts' } as const
const mongoContract = { ...mongodb, suite: ['test/store/mongodb.test.ts'], only: 'pins:' }
const mongoReplicas = { ...mongodb, suite: ['test/store/mongodb-catalog.test.ts'] }

/** The guards of what came from registries: no instance without its revision, no change from an old look. */
export const catalogMutations: readonly Mutation[] = [
  {
    ...memory,
    name: 'memory changes a catalog of another version',
    find: 'touchesCatalog(changes) && edition.version !== version',
    replace: 'edition.version !== version && changes.deleteRegistries.includes(String(touchesCatalog(changes)))',
  },
  {
    ...memory,
    name: 'memory deletes a service that is not retired',
    find: 'tables.services.get(id)?.retiredAt !== undefined && !needed.has(id)',
    replace: '!needed.has(id)',
  },
  {
    ...memory,
    name: 'memory deletes a service that is used',
    find: 'tables.services.get(id)?.retiredAt !== undefined && !needed.has(id)',
    replace: 'tables.services.get(id)?.retiredAt !== undefined',
  },
  {
    ...memory,
    name: 'memory deletes a revision that is used',
    find: 'const needed = new Set([...uses(tables)].map(({ revisionId }) => revisionId))',
    replace: 'const needed = new Set<string>()',
  },
  {
    ...memory,
    name: 'memory deletes the current revision of a service',
    find: '  for (const { revisionId } of tables.services.all()) needed.add(revisionId)\n',
    replace: '',
  },
  {
    ...memory,
    file: 'src/store/memory/tables.ts',
    name: 'memory pins to what is not stored',
    find: 'if (pinsOf(change.instance).some(id => !this.revisions.has(id))) throw revisionGone()',
    replace: '',
  },
  {
    ...sqlite,
    file: 'src/store/sqlite/marketplace.ts',
    name: 'sqlite changes a catalog of another version',
    find: 'touchesCatalog(changes) && Number(statements.catalog.get()?.version) !== version',
    replace: 'version < 0 && touchesCatalog(changes)',
  },
  {
    ...sqlite,
    file: 'src/store/sqlite/accept.ts',
    name: 'sqlite pins to what is not stored',
    find: 'if (statements.revision.get(id) === undefined) throw revisionGone()',
    replace: 'void id',
  },
  {
    ...statements,
    name: 'sqlite deletes a revision that an update leads to',
    find: `\n      or exists (select 1 from instance i where i.next_revision_id = \${id})`,
    replace: '',
  },
  {
    ...statements,
    name: 'sqlite deletes a revision that is used',
    find: `where id = ? and not \${used('revision.id')}`,
    replace: 'where id = ?',
  },
  {
    ...statements,
    name: 'sqlite deletes a service that is used',
    find: `\n    and not exists (select 1 from revision r where r.service_id = service.id and \${used('r.id')})`,
    replace: '',
  },
  {
    ...statements,
    name: 'sqlite deletes a service that is not retired',
    find: 'delete from service where id = ? and retired_at is not null',
    replace: 'delete from service where id = ?',
  },
  {
    ...postgresContract,
    name: 'postgres deletes a service that is used',
    find: `where r.service_id = v_id and \${needed('r.id')};`,
    replace: 'where r.service_id = v_id and false;',
  },
  {
    ...postgresContract,
    name: 'postgres pins to what is not stored',
    find: ` constraint instance_next_revision references \${schema}.revision (id)`,
    replace: '',
  },
  {
    ...postgresReplicas,
    only: 'one change of each version',
    name: 'postgres changes a catalog of another version',
    find: 'if p_touches and v_version <> p_version then',
    replace: 'if p_touches and v_version < 0 then',
  },
  {
    ...postgresReplicas,
    only: 'waits for nobody',
    name: 'postgres deletes a service that somebody is being pinned to',
    find: 'where r.service_id = v_id for update skip locked;',
    replace: 'where r.service_id = v_id;',
  },
  {
    ...postgresReplicas,
    only: 'wakes the others',
    file: 'src/store/postgres/listener.ts',
    name: 'postgres tells nobody of a new catalog',
    find: "if (wakeUp.type !== 'finished') return wakeUp.type",
    replace: "if (wakeUp.type !== 'finished') return 'work'",
  },
  {
    ...mongoContract,
    name: 'mongodb deletes a service that is used',
    find: 'deleteServices.filter(id => !needed.has(id))',
    replace: '[...deleteServices]',
  },
  {
    ...mongoContract,
    name: 'mongodb deletes a revision that is used',
    find: 'new Set([...used, ...current.map(row => row.revision)])',
    replace: 'new Set(current.map(row => row.revision))',
  },
  {
    ...mongoReplicas,
    only: 'one change of each version',
    name: 'mongodb changes a catalog of another version',
    find: 'if (await isStale({ session })) return refused',
    replace: '',
  },
  {
    ...mongoReplicas,
    only: 'keeps a revision while',
    file: 'src/store/mongodb/lanes.ts',
    name: 'mongodb pins past a deletion',
    find: 'await lane.updateOne({ _id: laneId(groupOf(id), number) }, touch, { session, upsert: true })',
    replace: 'void [lane, number]',
  },
  {
    ...mongoReplicas,
    only: 'keeps a revision while',
    file: 'src/store/mongodb/lanes.ts',
    name: 'mongodb deletes past a pin',
    find: 'if (writes.length > 0) await',
    replace: 'if (writes.length < 0) await',
  },
]
