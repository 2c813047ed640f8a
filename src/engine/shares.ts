import { fairRoom } from '../domain/fair-share.ts'
import type { LeftOut, Sharer } from '../domain/left-out.ts'

export interface ShareRules {
  /** Whether there are several services: one alone may have all places. */
  isShared(): boolean
  /** The most of any service at a time; without it, a fair share. */
  readonly perService: number | undefined
  /** The same of services that say so themselves. */
  readonly ofService: ReadonlyMap<string, number>
  readonly perPlatform: number | undefined
}

/** What a worker may ask the ledger for. */
export interface NextClaim {
  /** So few that not even all of them of one service or platform would be too many. */
  readonly most: number
  readonly leftOut: LeftOut | undefined
}

/** Who has how many of a worker's places, and who may have more. */
export class Shares {
  readonly #rules: ShareRules
  readonly #services = new Map<string, number>()
  readonly #platforms = new Map<string, number>()

  constructor(rules: ShareRules) {
    this.#rules = rules
  }

  /** An operation has a place. Answers how to say that it has it no more. */
  enter(sharer: Sharer): () => void {
    this.#count(sharer, 1)
    return () => this.#count(sharer, -1)
  }

  /** Whether one more like this may have a place, of so many free ones. All that is `asked` for may turn out to be like it. */
  hasRoom({ serviceId, platform }: Sharer, free: number, asked: number): boolean {
    const ofPlatform = platform === undefined ? free : this.#roomOf(platform, asked)
    return Math.min(this.#roomOfService(serviceId, free, asked), ofPlatform) > 0
  }

  nextClaim(free: number): NextClaim {
    const services = new Set([...this.#services.keys(), ...this.#rules.ofService.keys()])
    const rooms = [...services].map(id => [id, this.#roomOfService(id, free)] as const)
    const platformRooms = [...this.#platforms.keys()].map(name => [name, this.#roomOf(name)] as const)
    const leftOut = { services: full(rooms), platforms: full(platformRooms) }
    const others = [this.#limit(undefined, 0, free), this.#rules.perPlatform ?? free]
    const most = [...rooms, ...platformRooms].reduce(
      (least, [, room]) => (room > 0 ? Math.min(least, room) : least),
      free,
    )
    return { most: Math.min(most, ...others), leftOut: isEmpty(leftOut) ? undefined : leftOut }
  }

  /** Whose operations come before one like this, of all that wait: not those of others who have all that they may have. */
  passedBy({ serviceId, platform }: Sharer, free: number): LeftOut | undefined {
    // Where no place is free, one will be.
    const { leftOut } = this.nextClaim(Math.max(1, free))
    if (leftOut === undefined) return undefined
    const passed = {
      services: leftOut.services.filter(id => id !== serviceId),
      platforms: leftOut.platforms.filter(name => name !== platform),
    }
    return isEmpty(passed) ? undefined : passed
  }

  /** Whether some of what was left out may have a place now. */
  hasRoomAgain({ services, platforms }: LeftOut, free: number): boolean {
    return services.some(id => this.#roomOfService(id, free) > 0) || platforms.some(name => this.#roomOf(name) > 0)
  }

  #count({ serviceId, platform }: Sharer, change: 1 | -1): void {
    add(this.#services, serviceId, change)
    if (platform !== undefined) add(this.#platforms, platform, change)
  }

  #roomOfService(id: string, free: number, asked = 0): number {
    return this.#limit(this.#rules.ofService.get(id), (this.#services.get(id) ?? 0) + asked, free - asked)
  }

  #limit(own: number | undefined, taken: number, free: number): number {
    const limit = own ?? this.#rules.perService
    if (limit !== undefined) return Math.max(0, limit - taken)
    return this.#rules.isShared() ? fairRoom(taken, free) : free
  }

  #roomOf(platform: string, asked = 0): number {
    const { perPlatform = Number.POSITIVE_INFINITY } = this.#rules
    return Math.max(0, perPlatform - (this.#platforms.get(platform) ?? 0) - asked)
  }
}

function full(rooms: readonly (readonly [string, number])[]): string[] {
  return rooms.filter(([, room]) => room === 0).map(([name]) => name)
}

function isEmpty({ services, platforms }: LeftOut): boolean {
  return services.length + platforms.length === 0
}

function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
