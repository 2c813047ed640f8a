import type { NoteWrite, Store } from '../../store.ts'
import { toNote } from '../columns.ts'
import { endOf } from '../notes.ts'
import type { Calls } from './database.ts'
import { inner } from './rows.ts'

export function createNotes({ run, statements }: Calls): Pick<Store, 'note' | 'notes' | 'writeNotes' | 'forgetNotes'> {
  return {
    async note(kind, id) {
      const row = inner((await run(statements.note, [kind, id]))[0]?.row)
      return row && toNote(row)
    },
    async notes(kind, { prefix = '', after = '', limit }) {
      const rows = await run(statements.notes, [kind, after, prefix, endOf(prefix), limit])
      return rows.map(({ row }) => toNote(inner(row) ?? {}))
    },
    async writeNotes(writes) {
      await run(statements.writeNotes, [fromWrites(writes)])
    },
    async forgetNotes(max) {
      return (await run(statements.forgetNotes, [max])).length
    },
  }
}

/** As write_notes() takes them. */
export function fromWrites(writes: readonly NoteWrite[]): string {
  return JSON.stringify(
    writes.map(({ kind, id, version, doc, expiresAt }) => ({
      kind,
      id,
      version,
      expires_at: expiresAt,
      doc: doc && JSON.stringify(doc),
    })),
  )
}

/** The eleventh schema: what the operators' API has to remember. */
export function noteSchema(schema: string): string {
  return `
create table ${schema}.note (
  kind text collate "C" not null,
  id text collate "C" not null,
  version integer not null,
  expires_at double precision,
  doc text not null,
  primary key (kind, id)
);
create index note_expires on ${schema}.note (expires_at) where expires_at is not null;

-- All or none, in the order of their keys, so that two who write the same wait for each other in one direction only.
create function ${schema}.write_notes(p_notes jsonb) returns boolean language plpgsql as $$
declare
  v record;
begin
  for v in select r.* from jsonb_to_recordset(p_notes) as r (kind text, id text, version integer,
      expires_at double precision, doc text) order by r.kind collate "C", r.id collate "C" loop
    if v.doc is null then
      delete from ${schema}.note n where n.kind = v.kind and n.id = v.id and n.version = v.version;
    elsif v.version = 0 then
      insert into ${schema}.note (kind, id, version, expires_at, doc) values (v.kind, v.id, 1, v.expires_at, v.doc)
        on conflict do nothing;
    else
      update ${schema}.note n set version = n.version + 1, expires_at = v.expires_at, doc = v.doc
        where n.kind = v.kind and n.id = v.id and n.version = v.version;
    end if;
    if not found then
      raise unique_violation using constraint = 'note_version';
    end if;
  end loop;
  return true;
end $$;`
}
