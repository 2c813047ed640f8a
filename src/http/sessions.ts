import { createHash, randomBytes } from 'node:crypto'
import type { Memory, Principal, Remembered } from '../authenticator.ts'
import { writeAct } from '../broker/write-act.ts'
import type { Acting } from '../domain/operator.ts'
import { type SessionFacts, sessionBegun, sessionEnded } from '../domain/sign-in-lines.ts'
import { type Note, NoteConflictError, type Store } from '../store.ts'

/** A session ends this long after it was last renewed, */
const idleTime = 30 * 60_000
/** and this long after it was begun. */
const longestTime = 12 * 60 * 60_000
const kind = 'session'

/** Who has signed in to the console. */
export interface Session {
  /** Names it to operators; nobody can make its token from it. */
  readonly id: string
  readonly principal: Principal
  readonly begunAt: number
  readonly expiresAt: number
}

export interface IssuedSession extends Session {
  readonly token: string
}

/** What operators see of a session. */
export interface ListedSession extends Pick<Session, 'id' | 'begunAt' | 'expiresAt'> {
  readonly principal: string
  readonly scheme: string
  readonly address?: string
}

export interface Sessions {
  /** For whom the authenticator has just let in; undefined where it cannot know them again. */
  begin(principal: Principal, from: Pick<Acting, 'address' | 'requestId'>): Promise<IssuedSession | undefined>
  /** Who it stands for, with what they may do now; undefined where it is not good, or not any more. */
  read(token: string): Promise<Session | undefined>
  /** The same session for some more time; undefined where it has lasted long enough, or was ended. */
  renew(session: Session, token: string): Promise<IssuedSession | undefined>
  /** Whom it was of; undefined where there is none. From now on it is nobody's, on every replica. */
  end(id: string, acting: Acting): Promise<string | undefined>
  list(query: { readonly after?: string; readonly limit: number }): Promise<readonly ListedSession[]>
}

interface SessionDoc {
  readonly principal: string
  readonly remembered: Remembered
  readonly begunAt: number
  readonly address?: string
}

/**
 * Sessions as notes in the ledger: every replica sees them begin and end. A token is a number that nobody can guess, and the
 * ledger has only its hash: who reads the ledger is not signed in. What a user may do is looked up for each request.
 * That one begins or was ended stands in the history, from the same transaction on.
 */
export function createSessions(store: Store, memory: () => Memory | undefined, now: () => number): Sessions {
  /** No later than the credentials it was begun with. */
  const endOf = ({ begunAt, remembered: { until } }: SessionDoc) =>
    Math.min(now() + idleTime, begunAt + longestTime, until ?? Number.POSITIVE_INFINITY)

  /** Undefined where its time is over. */
  function toWrite(id: string, version: number, doc: SessionDoc) {
    const expiresAt = endOf(doc)
    return expiresAt <= now() ? undefined : { kind, id, version, doc: JSON.parse(JSON.stringify(doc)), expiresAt }
  }

  return {
    async begin(principal, { address, requestId }) {
      const remembered = await memory()?.remember(principal)
      if (remembered === undefined) return undefined
      const token = randomBytes(32).toString('base64url')
      const doc = { principal: principal.name, remembered, begunAt: now(), address }
      const id = idOf(token)
      const note = toWrite(id, 0, doc)
      if (note === undefined) return undefined
      const acting = { by: principal.name, address, requestId }
      await writeAct(store, at => sessionBegun(acting, factsOf(id, doc), at), [note])
      return { id, token, principal, begunAt: doc.begunAt, expiresAt: note.expiresAt }
    },
    async read(token) {
      if (!form.test(token)) return undefined
      const id = idOf(token)
      const note = await store.note(kind, id)
      // It may still be there: expired notes are removed now and then.
      if (note === undefined || (note.expiresAt ?? 0) <= now()) return undefined
      const { remembered, begunAt } = docOf(note)
      const principal = await memory()?.recall(remembered)
      return principal && { id, principal, begunAt, expiresAt: note.expiresAt ?? 0 }
    },
    async renew(session, token) {
      const note = await store.note(kind, session.id)
      if (note === undefined) return undefined
      try {
        const renewed = toWrite(session.id, note.version, docOf(note))
        if (renewed === undefined) return undefined
        await store.writeNotes([renewed])
        return { ...session, token, expiresAt: renewed.expiresAt }
      } catch (error) {
        // Ended, or renewed by another page, at the same time: what is there now decides.
        if (error instanceof NoteConflictError) return undefined
        throw error
      }
    },
    async end(id, acting) {
      for (;;) {
        const note = await store.note(kind, id)
        if (note === undefined) return undefined
        const facts = factsOf(id, docOf(note))
        try {
          await writeAct(store, at => sessionEnded(acting, facts, at), [{ kind, id, version: note.version }])
          return facts.principal
        } catch (error) {
          // It was renewed at the same time.
          if (!(error instanceof NoteConflictError)) throw error
        }
      }
    },
    async list(query) {
      const notes = await store.notes(kind, query)
      return notes.filter(({ expiresAt = 0 }) => expiresAt > now()).map(toListed)
    },
  }
}

const form = /^[\w-]{43}$/

function idOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}

function docOf({ doc }: Note): SessionDoc {
  return doc as unknown as SessionDoc
}

function factsOf(id: string, { principal, remembered: { scheme } }: SessionDoc): SessionFacts {
  return { id, principal, scheme }
}

function toListed(note: Note): ListedSession {
  const { principal, remembered, begunAt, address } = docOf(note)
  return { id: note.id, principal, scheme: remembered.scheme, begunAt, expiresAt: note.expiresAt ?? 0, address }
}
