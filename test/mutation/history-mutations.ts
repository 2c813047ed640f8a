import type { Mutation } from './mutation.ts'

const suite = ['test/history/chain.test.ts']
const domain = { file: 'src/domain/chain.ts', suite, only: 'sqlite' }
const verify = { file: 'src/cli/verify-chain.ts', suite, only: 'sqlite' }
const note = { file: 'src/broker/history/chain-note.ts', suite, only: 'sqlite' }
const chore = { file: 'src/broker/history/link-history.ts', suite, only: 'sqlite' }

/** Nothing of the history is changed, taken out or put in unseen. */
export const historyMutations: readonly Mutation[] = [
  {
    ...domain,
    name: 'the hash of a line is not over the one before it',
    find: '`${previous}\\n${toCanonicalJson(entry)}`',
    replace: 'toCanonicalJson(entry)',
  },
  {
    ...domain,
    name: 'a line may be missing from the chain',
    find: 'if (line.no > expected) {',
    replace: 'if (line.no < 0) {',
  },
  {
    ...domain,
    name: 'a line of the chain may be changed',
    find: 'hashEntry(before.hash, entry) === line.hash',
    replace: 'hashEntry(before.hash, entry) !== undefined',
  },
  { ...verify, name: 'the end of the chain may be cut off', find: 'if (last.no < end)', replace: 'if (last.no < 0)' },
  {
    ...verify,
    name: 'a line that is there twice is passed over between two pages',
    find: 'last.no === anchor.no ? last.no : last.no - 1',
    replace: 'last.no',
  },
  {
    ...verify,
    name: 'lines outside of the chain are of no concern',
    find: 'if (status.strays > 0)',
    replace: 'if (status.strays < 0)',
  },
  {
    ...verify,
    name: 'a head that was noted is not compared',
    find: 'link.no === no && link.hash !== hash',
    replace: 'link.no === no && link.hash === undefined',
  },
  {
    ...verify,
    name: 'a chain without a proof is good, though there is a key',
    find: "if (proof === 'none' && keyed && head.no > 0)",
    replace: "if (proof === 'none' && keyed && head.no < 0)",
  },
  {
    ...note,
    name: 'the proof is not compared with the ends of the chain',
    find: 'keyring.unseal(proof, place) === toText(endsIn(doc))',
    replace: "keyring.unseal(proof, place) !== ''",
  },
  {
    ...note,
    name: 'the chore proves a chain that somebody else may have written',
    find: "version === 0 || proof === 'proven'",
    replace: 'version >= 0',
  },
  {
    ...chore,
    name: 'the chore goes on with a chain that somebody else has written',
    find: "if (proof === 'wrong')",
    replace: "if (proof === 'proven' && version < 0)",
  },
  {
    ...chore,
    name: 'the chore begins a second chain beside the first',
    find: 'if (version === 0 && ',
    replace: 'if (version < 0 && ',
  },
  {
    ...chore,
    name: 'lines that were changed are removed when they are old',
    find: 'if (fault !== undefined)\n      throw',
    replace: 'if (fault === null)\n      throw',
  },
  {
    file: 'src/store/sealing.ts',
    suite,
    only: 'sqlite',
    name: 'a line of the history may be given to another instance',
    find: 'return key() === keyOf(String(event.instanceId)) ? event : undefined',
    replace: 'return keyOf === undefined ? undefined : event',
  },
  {
    file: 'src/store/memory/chain.ts',
    suite: ['test/store/memory.test.ts'],
    only: 'chain:',
    name: 'memory links a line twice',
    find: 'if (row === undefined || row.link !== undefined) throw',
    replace: 'if (row === undefined) throw',
  },
  {
    file: 'src/store/sqlite/chain.ts',
    suite: ['test/store/sqlite.test.ts'],
    only: 'chain:',
    name: 'sqlite links a line twice',
    find: 'where seq = ? and chain_no is null',
    replace: 'where seq = ?',
  },
  {
    file: 'src/store/postgres/chain.ts',
    suite: ['test/store/postgres.test.ts'],
    only: 'chain:',
    needs: 'postgres',
    name: 'postgres links a line twice',
    find: 'where h.seq = g.key and h.chain_no is null',
    replace: 'where h.seq = g.key',
  },
  {
    file: 'src/store/mongodb/chain.ts',
    suite: ['test/store/mongodb.test.ts'],
    only: 'chain:',
    needs: 'mongodb',
    name: 'mongodb links a line twice',
    find: 'const filter = { ...unlinked, $expr',
    replace: 'const filter = { $expr',
  },
  {
    file: 'src/store/mongodb/purge.ts',
    suite: ['test/store/mongodb.test.ts'],
    only: 'purge:',
    needs: 'mongodb',
    name: 'mongodb mixes the history of an instance with that of one that was purged',
    find: '$inc: { lock: -lifetimesApart }',
    replace: '$inc: { lock: 0 }',
  },
  {
    file: 'src/domain/mask-history.ts',
    suite: ['test/history/masked.test.ts'],
    name: 'what is to be masked is written',
    find: 'history: change.history.map(event => mask(event, fields))',
    replace: 'history: change.history',
  },
  {
    file: 'src/running/masked-store.ts',
    suite: ['test/history/masked.test.ts'],
    name: 'what is to be masked is written at the end of an operation',
    find: "if (name === 'finish')",
    replace: "if (name === 'finished')",
  },
]
