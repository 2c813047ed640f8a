import type { HistoryEvent } from './change.ts'
import { noInstance } from './operator.ts'

/** A sign-in to the console that was refused. Nothing of it was sent by a client: it may be a password in the wrong field. */
export interface RefusedSignIn {
  readonly reason: string
  readonly scheme?: string | undefined
  /** Whose credentials were tried, where that is somebody who is known here. */
  readonly principal?: string | undefined
  readonly address?: string | undefined
}

interface Counted {
  /** The first of them; absent for those that are not told apart. */
  readonly first?: RefusedSignIn
  readonly since: number
  times: number
}

/** So many are told apart. Addresses cost nobody anything: without a limit, whoever has many would fill the ledger. */
const mostApart = 10

/** Refused sign-ins of a while, alike where whom they name, where they come from and the scheme are. */
export class RefusedSignIns {
  readonly #counted = new Map<string, Counted>()

  get isEmpty(): boolean {
    return this.#counted.size === 0
  }

  count(refused: RefusedSignIn, now: number): void {
    this.#add(keyOf(refused), { first: refused, since: now, times: 1 })
  }

  /** Counts also what another has counted. */
  take(others: RefusedSignIns): void {
    for (const [key, counted] of others.#counted) this.#add(key, counted)
  }

  toLines(at: number): readonly HistoryEvent[] {
    return [...this.#counted.values()].map(counted => toLine(counted, at))
  }

  #add(key: string, { first, since, times }: Counted): void {
    const known = this.#counted.get(key)
    if (known !== undefined) known.times += times
    else if (key === ofOthers || this.#counted.size < mostApart) this.#counted.set(key, { first, since, times })
    else this.#add(ofOthers, { since, times })
  }
}

const ofOthers = ''

function keyOf({ scheme, principal, address }: RefusedSignIn): string {
  return JSON.stringify([scheme, principal, address])
}

/** Nobody knows who it was, so that there is no `by`. */
function toLine({ first, since, times }: Counted, at: number): HistoryEvent {
  const { scheme, principal, address, reason = 'more of others, which are not told apart' } = first ?? {}
  return {
    type: 'acted',
    verb: 'refuse-sign-in',
    at,
    instanceId: noInstance,
    principal,
    address,
    message: times === 1 ? reason : `${reason} (${times} times)`,
    before: {},
    after: { refused: times, since: new Date(since).toISOString(), ...(scheme && { scheme }) },
  }
}
