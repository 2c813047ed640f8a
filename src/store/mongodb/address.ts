import { StoreOpenError } from '../../store.ts'

export interface Address {
  /** Hosts and database, as people may see them: no user, no password, no options. */
  readonly name: string
  readonly database: string
}

/** `database` wins over the one that the URL names. */
export function readAddress(url: string, database?: string): Address {
  const [, scheme, rest = ''] = /^(mongodb(?:\+srv)?):\/\/(.*)$/s.exec(url) ?? []
  if (scheme === undefined) {
    throw new StoreOpenError(
      'bad-url',
      'the URL of the MongoDB store must begin with mongodb:// or mongodb+srv://, for example mongodb://db1,db2,db3/purser?replicaSet=rs0',
    )
  }
  // The last "@" ends the password, even one that was not encoded as it should be.
  const [place = ''] = rest.slice(rest.lastIndexOf('@') + 1).split('?')
  const [hosts = '', path = ''] = place.split('/')
  const chosen = database ?? (path === '' ? 'purser' : decode(path))
  return { name: `${scheme}://${hosts}/${chosen}`, database: chosen }
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    throw new StoreOpenError(
      'bad-url',
      'the URL of the MongoDB store names a database that is not percent-encoded right',
    )
  }
}
