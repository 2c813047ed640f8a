import type { Mutation } from './mutation.ts'

const suite = ['test/store/encryption.test.ts']
const keyring = { file: 'src/store/keyring.ts', suite, only: 'sqlite' }

const ciphers = { file: 'src/store/fresh-ciphers.ts', suite: ['src/store/keyring.test.ts'] }

/** What is encrypted is so everywhere, belongs to its row, and is named where it cannot be read. */
export const encryptionMutations: readonly Mutation[] = [
  {
    file: 'src/store/sealing.ts',
    suite,
    only: 'sqlite',
    name: 'a store writes in clear what it has a key for',
    find: 'if (keyring === undefined || nothingSealed.includes(text)) return text',
    replace: 'if (keyring === undefined || text !== "") return text',
  },
  {
    ...keyring,
    name: 'a value is good in any row',
    find: 'return Buffer.from(JSON.stringify(place))',
    replace: 'return Buffer.from(place[1])',
  },
  {
    ...ciphers,
    name: 'two values have the same nonce',
    find: 'nonces.subarray(n * nonceLength, (n + 1) * nonceLength)',
    replace: 'nonces.subarray(0, nonceLength)',
  },
  {
    ...ciphers,
    name: 'a cipher is given out twice',
    find: 'fresh.pop() ?? makeMore()',
    replace: 'fresh.at(-1) ?? makeMore()',
  },
  {
    file: 'src/store/sqlite/rows.ts',
    suite,
    only: 'sqlite',
    name: 'sqlite believes the document which row it is',
    find: "if (typeof inDoc !== 'string' || isPlain(inDoc)) return String(column ?? '')",
    replace: "if (typeof inDoc !== 'string') return String(column ?? '')\n  if (isPlain(inDoc)) return inDoc",
  },
  {
    file: 'src/store/require-keys.ts',
    suite,
    only: 'sqlite',
    name: 'a key that protects values may be missing',
    find: 'if (values === 0) return',
    replace: 'if (values >= 0) return',
  },
  {
    file: 'src/store/require-keys.ts',
    suite,
    only: 'sqlite',
    name: 'another key may have the label of one that was used',
    find: 'if (keyring?.labels.includes(label)) requireSame(',
    replace: 'if (keyring?.labels.includes(label)) void ((..._: unknown[]) => {})(',
  },
  {
    file: 'src/store/sqlite/seal-again.ts',
    suite,
    only: 'sqlite',
    name: 'a rotation leaves what was in clear in the free parts of the file',
    find: 'PRAGMA secure_delete = ON',
    replace: 'PRAGMA secure_delete = OFF',
  },
  {
    file: 'src/store/postgres/seal-again.ts',
    suite,
    only: 'postgres',
    needs: 'postgres',
    name: 'postgres writes what was there before a rotation',
    find: 'set ${column} = mine.after',
    replace: 'set ${column} = mine.before',
  },
  {
    file: 'src/server/refuse-unsafe.ts',
    suite: ['test/server/encryption.test.ts'],
    name: 'a broker without a key starts on a server store',
    find: 'if (!required || key !== undefined',
    replace: 'if (required || key !== undefined',
  },
  {
    file: 'src/running/open-keyring.ts',
    suite: ['test/server/encryption.test.ts'],
    name: 'a key may lie in a file that is open to everybody',
    find: '(mode & 0o007) !== 0',
    replace: 'mode < 0',
  },
  {
    file: 'src/broker/moving/export-ledger.ts',
    suite: ['test/moving/encrypted.test.ts'],
    name: 'an export of an encrypted ledger is in clear',
    find: 'if (keyring !== undefined) return',
    replace: 'if (keyring === null) return',
  },
]
