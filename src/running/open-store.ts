import type { Clock } from '../clock.ts'
import type { Observer } from '../observer.ts'
import { type ReadSettings, readSettings } from '../settings/settings.ts'
import { findAdapter, storeForms } from '../store/schemes.ts'
import type { Store } from '../store.ts'
import { openKeyring } from './open-keyring.ts'

interface OpenStoreOptions {
  readonly ledger?: ReadSettings['ledger']
  readonly encryption?: ReadSettings['encryption']
  readonly observer?: Observer
}

/** Opens the store that a URL names. */
export async function openStore(url: string, clock: Clock, options: OpenStoreOptions = {}): Promise<Store> {
  const defaults = readSettings()
  const { ledger = defaults.ledger, encryption = defaults.encryption, observer } = options
  const adapter = findAdapter(url)
  if (adapter === undefined) {
    // Nothing of the text but its scheme is shown: a password may stand in it.
    const scheme = /^[a-z+]{1,20}:/.exec(url)?.[0] ?? ''
    throw new StoreUrlError(`no store can be opened by this ${scheme} URL: write ${storeForms}`)
  }
  return adapter.open(url, { clock, observer, keyring: await openKeyring(encryption), ...ledger })
}

/** A URL that names no store of this version. */
export class StoreUrlError extends Error {
  override readonly name = 'StoreUrlError'
}
