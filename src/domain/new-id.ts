import { randomUUID } from 'node:crypto'

/** A UUID version 7: unguessable, and rising with time, so that an index of millions stays compact. */
export function newId(now: number): string {
  const time = now.toString(16).padStart(12, '0')
  // All after the version comes from a random UUID. Node makes many of those at once, so one costs little.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}
