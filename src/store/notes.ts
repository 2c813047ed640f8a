/** What the stores do alike with notes. */
import { NoteConflictError } from '../store.ts'

export function noteConflict(): NoteConflictError {
  return new NoteConflictError('the note is not of the version that it was: read it again')
}

/** The first id after all that begin with the prefix. Ids are ASCII. */
export function endOf(prefix: string): string {
  return `${prefix}\u007f`
}
