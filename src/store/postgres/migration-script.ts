import { lockForMigration } from './migrate.ts'

/**
 * All or nothing, under the lock that replicas take: run beside a broker that starts, or a second time, it fails at its first
 * statement and leaves things as they are. `servedBy` comes quoted.
 */
export function toScript(pending: readonly string[], schema: string, servedBy: string): string {
  return `-- Brings the schema ${schema} up to date. Run it as a user who may create and change that schema.
begin;
${lockForMigration(schema)};

${pending.join('\n\n')}

-- What the broker's own user needs, where another one runs this.
grant usage on schema "${schema}" to ${servedBy};
grant select, insert, update, delete on all tables in schema "${schema}" to ${servedBy};
grant usage on all sequences in schema "${schema}" to ${servedBy};
commit;
`
}
