import {
  createLocalJWKSet,
  errors,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWSHeaderParameters,
  type JWTVerifyGetKey,
} from 'jose'
import type { Clock } from '../clock.ts'

type Key = Awaited<ReturnType<JWTVerifyGetKey>>

/** From then on they are read again, while those that are known are used. */
const freshFor = 10 * 60_000
/** A token with a key that is not known makes them be read again, but not more often than this, */
const pause = 30_000
/** and where they could not be read, not more often than this. */
const pauseAfterFailure = 5_000
/** So long they are used where they cannot be read again. */
const keptFor = 24 * 3_600_000

export interface KeySetOptions {
  /** A JWKS, from wherever it is. */
  load(): Promise<unknown>
  readonly clock: Clock
  onFailure(error: unknown): void
}

/** There are no keys to check with: it is not the token that is wrong. */
export class NoKeysError extends Error {
  override readonly name = 'NoKeysError'
}

export interface KeySet {
  /** Reads them now. Rejects where that fails; what was read before stays. */
  refresh(): Promise<void>
  /**
   * The one that a token names in its header, or the only one that fits; nothing else of the header has a say. Where several fit, it
   * rejects with jose's JWKSMultipleMatchingKeys, which lists them.
   */
  find(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<Key>
}

/** The public keys of an issuer. Many requests at once make one question; a flood of tokens with wrong keys makes one a while. */
export function createKeySet({ load, clock, onFailure }: KeySetOptions): KeySet {
  let known: { readonly find: ReturnType<typeof createLocalJWKSet>; readonly at: number } | undefined
  let loading: Promise<void> | undefined
  let mayLoadAt = Number.NEGATIVE_INFINITY

  async function read(): Promise<void> {
    try {
      // Throws where it is something else than a list of keys.
      known = { find: createLocalJWKSet((await load()) as JSONWebKeySet), at: clock.now() }
      mayLoadAt = clock.now() + pause
    } catch (error) {
      mayLoadAt = clock.now() + pauseAfterFailure
      onFailure(error)
      throw error
    }
  }

  function refresh(): Promise<void> {
    loading ??= read().finally(() => {
      loading = undefined
    })
    return loading
  }

  /** Where it may; what comes of it is seen afterwards. */
  async function tryRefresh(): Promise<void> {
    if (loading !== undefined || clock.now() >= mayLoadAt) await refresh().catch(() => {})
  }

  function current() {
    return known !== undefined && clock.now() - known.at < keptFor ? known : undefined
  }

  return {
    refresh,
    async find(header, token) {
      const before = current()
      if (before === undefined) await tryRefresh()
      else if (clock.now() - before.at >= freshFor) void tryRefresh()
      const keys = current()
      if (keys === undefined) throw new NoKeysError('the keys of the issuer could not be read')
      try {
        return await keys.find(header, token)
      } catch (error) {
        // It has too many that fit, and not too few.
        if (error instanceof errors.JWKSMultipleMatchingKeys) throw error
        // The issuer may have a new key.
        await tryRefresh()
        const now = current()
        if (now === undefined || now === keys) throw error
        return now.find(header, token)
      }
    },
  }
}
