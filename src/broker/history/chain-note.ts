import { beginning, type ChainEnds } from '../../domain/chain.ts'
import { isJsonObject, type JsonObject } from '../../protocol/json.ts'
import { type Keyring, type Note, type NoteWrite, type SealedPlace, type Store, UnsealError } from '../../store.ts'

/** The note that says where the chain begins and ends. */
export const chainKind = 'history-chain'
const id = 'ends'

/** Whether the ends were written by somebody who has the key. */
export type Proof =
  /** They were. */
  | 'proven'
  /** Nothing says so: they were written without a key. */
  | 'none'
  /** Somebody else has written them. */
  | 'wrong'
  /** The key that would tell is not configured. */
  | 'missing-key'

export interface ReadEnds extends ChainEnds {
  /** Of the note; 0 where there is none yet. */
  readonly version: number
  readonly proof: Proof
  /** The label of the key. */
  readonly key?: string
}

/** Where the chain begins and ends, as the note says; a chain that has not begun has the beginning at both. */
export async function readEnds({ note, sealing }: Pick<Store, 'note' | 'sealing'>): Promise<ReadEnds> {
  const found = await note(chainKind, id)
  if (found === undefined) return { anchor: beginning, head: beginning, version: 0, proof: 'none' }
  return { ...endsIn(found.doc), ...judge(sealing?.keyring, found.doc), version: found.version }
}

/** The note with other ends. They are proven where they were before, or are the first: nobody's work is vouched for unseen. */
export function writeEnds(keyring: Keyring | undefined, { version, proof }: ReadEnds, ends: ChainEnds): NoteWrite {
  const isProven = version === 0 || proof === 'proven'
  return { kind: chainKind, id, version, doc: toDoc(isProven ? keyring : undefined, ends) }
}

/** The same ends, proven with the current key, whoever has written them: an operator has said so. */
export function proveEnds(keyring: Keyring, { version, anchor, head }: ReadEnds): NoteWrite {
  return { kind: chainKind, id, version, doc: toDoc(keyring, { anchor, head }) }
}

/** The note of another ledger, for one with these keys. Undefined where somebody has written it who had not the key. */
export function moveEnds(keyring: Keyring | undefined, note: Note): Note | undefined {
  if (judge(keyring, note.doc).proof === 'wrong') return undefined
  return { ...note, doc: toDoc(keyring, endsIn(note.doc)) }
}

/** What is encrypted can be made and changed only by who has the key: it proves the rest. */
function toDoc(keyring: Keyring | undefined, { anchor, head }: ChainEnds): JsonObject {
  const ends = { anchor: { ...anchor }, head: { ...head } }
  return keyring === undefined ? ends : { ...ends, proof: keyring.seal(toText(ends), place) }
}

function judge(keyring: Keyring | undefined, doc: JsonObject): { readonly proof: Proof; readonly key?: string } {
  const { proof } = doc
  if (typeof proof !== 'string') return { proof: 'none' }
  const [, key = ''] = proof.split(':')
  if (keyring?.labels.includes(key) !== true) return { proof: 'missing-key', key }
  try {
    return { proof: keyring.unseal(proof, place) === toText(endsIn(doc)) ? 'proven' : 'wrong', key }
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error
    return { proof: 'wrong', key }
  }
}

const place: SealedPlace = ['history', 'chain']

function toText({ anchor, head }: ChainEnds): string {
  return JSON.stringify([anchor.no, anchor.hash, head.no, head.hash])
}

/** Somebody may have written anything. */
function endsIn({ anchor, head }: JsonObject): ChainEnds {
  return { anchor: toLink(anchor), head: toLink(head) }
}

function toLink(value: JsonObject[string]) {
  const { no, hash } = isJsonObject(value) ? value : {}
  return { no: Number(no ?? 0), hash: String(hash ?? '') }
}
