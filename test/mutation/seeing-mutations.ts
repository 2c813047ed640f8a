import type { Mutation } from './mutation.ts'

const streams = { file: 'src/http/admin/streams.ts', suite: ['test/http/streams.test.ts'] }
const reads = { suite: ['test/http/admin-reads.test.ts'] }
const memory = { suite: ['test/store/memory.test.ts'] }

/** What keeps the looks of operators small, and true. */
export const seeingMutations: readonly Mutation[] = [
  {
    ...streams,
    name: 'any number of streams is open',
    find: 'if (this.#open.size >= most)',
    replace: 'if (this.#open.size < 0)',
  },
  {
    ...streams,
    name: 'streams outlive the process that is about to stop',
    find: 'for (const one of this.#open) one.abort()',
    replace: '',
  },
  {
    ...streams,
    name: 'a stream that is closed keeps its place',
    find: 'this.#open.delete(ended)',
    replace: '',
  },
  {
    file: 'src/http/admin/follow-operation.ts',
    suite: ['test/http/streams.test.ts'],
    name: 'a page that comes back is told all of it again',
    find: 'if (seen.has(key)) continue',
    replace: '',
  },
  {
    ...reads,
    file: 'src/domain/fingerprint.ts',
    suite: ['src/domain/fingerprint.test.ts'],
    name: 'numbers tell failures apart',
    find: ".replace(/\\d+/g, '<n>')",
    replace: '',
  },
  {
    ...memory,
    file: 'src/store/memory/bulletins.ts',
    name: 'bulletins are told for ever',
    find: 'row.kind === kind && row.until > now',
    replace: 'row.kind === kind',
  },
  {
    ...memory,
    file: 'src/store/memory/survey.ts',
    name: 'any number of failures is read',
    find: 'if (failed.length >= most) break',
    replace: '',
  },
]
