import { hash } from 'node:crypto'
import { isJsonObject, type Json, type JsonObject, toCanonicalJson } from '../protocol/json.ts'
import { snakeCase } from '../shape/describe.ts'
import type { HistoryEvent } from './change.ts'

/** The place of a line of the history in its chain: its number, from 1 on, and the hash of it and of all lines before it. */
export interface Link {
  readonly no: number
  /** SHA-256, 64 hexadecimal digits. */
  readonly hash: string
}

/** What the first line follows. */
export const beginning: Link = { no: 0, hash: '0'.repeat(64) }

/** Where the chain begins and ends now: after the lines that were removed because of their age, and with the latest line. */
export interface ChainEnds {
  readonly anchor: Link
  readonly head: Link
}

/**
 * A line as it is hashed, exported and shown: names in snake case, its time in ISO 8601, and its number. It has every field that
 * the row has, also those that nobody knows: what somebody adds changes the hash.
 */
export function toEntry(no: number, event: HistoryEvent): JsonObject {
  const fields = Object.entries(event).map(([key, value]): [string, Json] => [toName(key), value])
  return { no, ...Object.fromEntries(fields), at: toTime(event.at) }
}

/** Of the fields that lines have. */
const names = new Map<string, string>()

function toName(key: string): string {
  const known = names.get(key)
  if (known !== undefined) return known
  const name = snakeCase(key)
  // What somebody has added to rows has no end.
  if (names.size < 100) names.set(key, name)
  return name
}

/** The link of a line that follows another. The hash is over the one before, a line feed, and the canonical JSON of the entry. */
export function nextLink(before: Link, event: HistoryEvent): Link {
  const no = before.no + 1
  return { no, hash: hashEntry(before.hash, toEntry(no, event)) }
}

function hashEntry(previous: string, entry: JsonObject): string {
  return hash('sha256', `${previous}\n${toCanonicalJson(entry)}`, 'hex')
}

/** A line of the chain, as it is read. Without `entry` the row cannot be read any more. */
export interface ChainLine extends Link {
  readonly entry?: JsonObject | undefined
}

/** What is wrong with a chain, at which of its lines. */
export interface ChainFault {
  readonly no: number
  readonly kind: 'missing' | 'changed' | 'added' | 'unlike-head' | 'unproven'
  readonly message: string
}

/** Undefined where the line follows the one before it. */
export function findFault(before: Link, line: ChainLine): ChainFault | undefined {
  const expected = before.no + 1
  if (line.no > expected) {
    const last = line.no - 1
    const which = last === expected ? `line ${expected} is` : `lines ${expected} to ${last} are`
    return { no: expected, kind: 'missing', message: `${which} missing` }
  }
  if (line.no < expected) return { no: line.no, kind: 'added', message: `there are two lines ${line.no}` }
  const { entry } = line
  if (isJsonObject(entry) && entry.no === line.no && hashEntry(before.hash, entry) === line.hash) return undefined
  const message = `line ${line.no} is not the line that was written: it was changed, put in, or put in another order`
  return { no: line.no, kind: 'changed', message }
}

/** A time that somebody wrote into the database may be none. */
function toTime(at: number): string | number {
  const time = new Date(at)
  return Number.isNaN(time.getTime()) ? at : time.toISOString()
}
