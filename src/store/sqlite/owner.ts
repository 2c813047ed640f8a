/**
 * Who holds the database, for the error message of whoever cannot have it. The lock itself is the operating system's, on
 * the database file, and ends with the process; this note only puts a name to it and may be stale.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'

export function noteOwner(file: string, now: number): void {
  const note = { pid: process.pid, host: hostname(), since: new Date(now).toISOString() }
  ignoringErrors(() => writeFileSync(noteOf(file), `${JSON.stringify(note)}\n`))
}

export function removeOwner(file: string): void {
  ignoringErrors(() => rmSync(noteOf(file), { force: true }))
}

/** `process 42 on host db1 since 2026-01-01T00:00:00.000Z`, as far as it is known. */
export function describeOwner(file: string): string {
  try {
    const { pid, host, since } = JSON.parse(readFileSync(noteOf(file), 'utf8'))
    return `process ${pid} on host ${host} since ${since}`
  } catch {
    return 'another process'
  }
}

function noteOf(file: string): string {
  return `${file}.owner.json`
}

/** A note that cannot be written or removed (a full disk) must not stop a store that works. */
function ignoringErrors(write: () => void): void {
  try {
    write()
  } catch {
    // Only the error message of a second process gets poorer.
  }
}
