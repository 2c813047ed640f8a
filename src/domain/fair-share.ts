/**
 * How many places a service may take besides those that it has, where places are shared and nobody has set a number. It may
 * have three times as many as it leaves free, and the last free one is for a service that has none: one that is slow takes three
 * quarters, a second one most of what is left, and there is still a place for a third.
 */
export function fairRoom(taken: number, free: number): number {
  if (free <= 1) return taken === 0 ? Math.max(0, free) : 0
  return Math.max(0, Math.min(Math.ceil((3 * free - taken) / 4), free - 1))
}
