/**
 * The canaries: one note for each key that a ledger was ever written with, sealed with that key. They say at the start which
 * key is missing, or is another one now, before anything is read or written.
 */
import { type Keyring, NoteConflictError, type SealedPlace, type Store, StoreOpenError, UnsealError } from '../store.ts'

const kind = 'encryption-key'
const canary = 'canary'

/** The same store, once every key is there that it needs; closed otherwise. The key for new values is noted. */
export async function requireKeys(store: Store): Promise<Store> {
  try {
    await checkKeys(store, store.sealing?.keyring)
    return store
  } catch (error) {
    await store.close()
    throw error
  }
}

async function checkKeys(store: Store, keyring: Keyring | undefined): Promise<void> {
  const notes = await store.notes(kind, { limit: 1_000 })
  for (const { id: label, version, doc } of notes) {
    if (keyring?.labels.includes(label)) requireSame(store, keyring, label, String(doc.sealed))
    else await forgetUnused(store, label, version)
  }
  if (keyring === undefined || notes.some(({ id }) => id === keyring.current)) return
  const doc = { sealed: keyring.seal(canary, placeOf(keyring.current)) }
  await ignoringConflicts(store.writeNotes([{ kind, id: keyring.current, version: 0, doc }]))
  // Another replica may have begun at the same moment: this look tells whether its key really is the same.
  await checkKeys(store, keyring)
}

/** Another replica was faster. */
async function ignoringConflicts(writing: Promise<void>): Promise<void> {
  try {
    await writing
  } catch (error) {
    if (!(error instanceof NoteConflictError)) throw error
  }
}

/** Two keys of one label would make two ledgers of one. */
function requireSame({ name }: Store, keyring: Keyring, label: string, sealed: string): void {
  try {
    if (keyring.unseal(sealed, placeOf(label)) === canary) return
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error
  }
  throw new StoreOpenError(
    'missing-key',
    `${name} was written with another key that was called "${label}": configure that one under this label, and give the new one a label of its own`,
  )
}

/** A key that protects nothing any more may go; one that still does is named. */
async function forgetUnused(store: Store, label: string, version: number): Promise<void> {
  const uses = (await store.sealing?.uses()) ?? []
  const values = uses.find(use => use.label === label)?.values ?? 0
  if (values === 0) return ignoringConflicts(store.writeNotes([{ kind, id: label, version, doc: undefined }]))
  throw new StoreOpenError(
    'missing-key',
    `${store.name} was written with the key "${label}", which is not configured and still protects ${values} values: ` +
      'add it to encryption.keys (encryption.key is called "default"), start, and run "purser keys rotate" before you remove it',
  )
}

function placeOf(label: string): SealedPlace {
  return ['encryption key', 'canary', label]
}
