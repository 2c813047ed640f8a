import type { Mutation } from './mutation.ts'

const admission = { file: 'src/http/admission.ts', suite: ['test/http/admission.test.ts'] }
const app = { file: 'src/http/app.ts', suite: ['test/http/admission.test.ts'] }

/** What keeps a broker well that is asked for more than it can do. */
export const loadMutations: readonly Mutation[] = [
  {
    ...admission,
    name: 'any number of requests is served at once',
    find: 'if (serving >= (wanted.isNew ? places : 2 * places)) return false',
    replace: '',
  },
  {
    ...admission,
    name: 'polls are refused like new work',
    find: 'wanted.isNew ? places : 2 * places',
    replace: 'places',
  },
  {
    ...admission,
    name: 'as many requests at once when they take long',
    find: 'latency <= patience ? most :',
    replace: 'latency >= 0 ? most :',
  },
  {
    ...admission,
    name: 'any number of bytes is held for bodies',
    find: 'return bodyBytes === 0 || bodyBytes + wanted.bodyBytes <= mostBodyBytes',
    replace: 'return true',
  },
  {
    ...app,
    name: 'health routes are refused as well',
    find: 'if (!isHealthPath(exchange.path)) exchange.visit',
    replace: 'exchange.visit',
  },
  {
    ...app,
    file: 'src/http/exchange.ts',
    name: 'requests that only wait take up a place',
    find: 'this.operationId = id\n    this.visit?.leave(this.#options.clock.now())',
    replace: 'this.operationId = id',
  },
]
