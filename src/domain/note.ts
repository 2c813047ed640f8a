import type { JsonObject } from '../protocol/json.ts'

/** A small document of the operators' API: an answered request, a batch or an item of it, a gate. Kinds and ids are ASCII. */
export interface Note {
  readonly kind: string
  readonly id: string
  /** Rises by one with each write, from 1 on. */
  readonly version: number
  readonly doc: JsonObject
  /** When it may be removed; absent: it stays. */
  readonly expiresAt?: number
}

/** A note that was not there before. */
export type NewNote = Omit<Note, 'version'>

/** `version` is that of the note that it replaces; 0: there is none. Without `doc` the note is removed. */
export type NoteWrite = Omit<Note, 'doc'> & { readonly doc?: JsonObject }
