import { describe, expect, it } from 'vitest'
import { readAddress } from './address.ts'

describe('the address of a MongoDB store', () => {
  it.each([
    ['mongodb://db', undefined, 'mongodb://db/purser', 'purser'],
    ['mongodb://db1:27017,db2/ledger?replicaSet=rs0', undefined, 'mongodb://db1:27017,db2/ledger', 'ledger'],
    ['mongodb://db/ledger', 'other', 'mongodb://db/other', 'other'],
    ['mongodb+srv://user:secret@cluster.example/?w=1', undefined, 'mongodb+srv://cluster.example/purser', 'purser'],
    ['mongodb://user:se%40cret@db/a%20b', undefined, 'mongodb://db/a b', 'a b'],
  ])('%s with database %s', (url, database, name, expected) => {
    expect(readAddress(url, database)).toEqual({ name, database: expected })
  })

  it.each(['mongodb://user:secret@@secret/@db/x', 'mongodb://user:secret?x@db/x', 'mongodb://secret@db?a=b'])(
    'shows no part of a password: %s',
    url => expect(readAddress(url).name).not.toContain('secret'),
  )

  it.each(['', 'postgres://user:secret@db', 'secret'])('refuses %s without repeating it', url => {
    expect(() => readAddress(url)).toThrow(/must begin with mongodb:\/\//)
    expect(() => readAddress(url)).not.toThrow(/secret/)
  })
})
