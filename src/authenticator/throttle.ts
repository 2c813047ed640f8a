import type { Clock } from '../clock.ts'

export interface Throttle {
  /** How many milliseconds until this key may try once more; 0 where it may now. */
  wait(key: string): number
  take(key: string): void
  /** An attempt that was none after all. */
  giveBack(key: string): void
}

/**
 * Counts attempts, for each key by itself: `burst` of them at once, and one more every `interval`. What it keeps of a key is one
 * time: when all of its attempts are there again. Of more than `mostKeys` keys, the one that tried longest ago is forgotten.
 */
export function createThrottle(
  { burst, interval, mostKeys }: { burst: number; interval: number; mostKeys: number },
  clock: Clock,
): Throttle {
  const fullAt = new Map<string, number>()
  return {
    wait: key => Math.max(0, (fullAt.get(key) ?? 0) - clock.now() - (burst - 1) * interval),
    take(key) {
      const from = Math.max(fullAt.get(key) ?? 0, clock.now())
      // A key that tries again is the youngest.
      fullAt.delete(key)
      fullAt.set(key, from + interval)
      const [oldest] = fullAt.size > mostKeys ? fullAt.keys() : []
      if (oldest !== undefined) fullAt.delete(oldest)
    },
    giveBack(key) {
      const at = fullAt.get(key)
      if (at !== undefined) fullAt.set(key, at - interval)
    },
  }
}

/**
 * Whom an address stands for. A client with IPv6 usually has a whole /64 to itself, so that counts as one; an IPv4 address is
 * the same in both of its forms.
 */
export function networkOf(address: string): string {
  const v4 = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (v4 !== undefined || !address.includes(':')) return v4 ?? address
  const [head = '', tail] = (address.split('%')[0] ?? '').toLowerCase().split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const groups = [...before, ...Array(Math.max(0, 8 - before.length - after.length)).fill('0'), ...after]
  return groups
    .slice(0, 4)
    .map(group => group.replace(/^0+(?=.)/, ''))
    .join(':')
}
