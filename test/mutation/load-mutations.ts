import type { Mutation } from './mutation.ts'

const admission = { file: 'src/http/admission.ts', suite: ['test/http/admission.test.ts'] }
const app = { file: 'src/http/app.ts', suite: ['test/http/admission.test.ts'] }

const queue = { file: 'src/engine/queue.ts', suite: ['test/engine/queue.test.ts'] }
const lane = { ...queue, file: 'src/engine/queue-lane.ts' }
const replicas = { file: 'src/engine/queue-lane.ts', suite: ['test/replicas/queue.test.ts'] }
const queueTime = { file: 'src/domain/queue-time.ts', suite: ['src/domain/queue-time.test.ts'] }

/** What keeps a broker well that is asked for more than it can do. */
export const loadMutations: readonly Mutation[] = [
  {
    ...admission,
    name: 'any number of requests is served at once',
    hangs: true,
    find: 'if (serving >= (wanted.isNew ? places : 2 * places)) return false',
    replace: '',
  },
  {
    ...admission,
    name: 'polls are refused like new work',
    hangs: true,
    find: 'wanted.isNew ? places : 2 * places',
    replace: 'places',
  },
  {
    ...admission,
    name: 'as many requests at once when they take long',
    hangs: true,
    find: 'latency <= patience ? most :',
    replace: 'latency >= 0 ? most :',
  },
  {
    ...admission,
    name: 'any number of bytes is held for bodies',
    hangs: true,
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
  {
    ...queue,
    name: 'what cannot begin in time is accepted',
    find: 'if (late <= 0) return undefined',
    replace: 'if (late >= 0) return undefined',
  },
  {
    ...replicas,
    file: 'src/engine/queue.ts',
    name: 'refused before an idle replica could take what is due',
    find: '(lane.isFull ? refusal : doubt)',
    replace: 'refusal',
  },
  {
    ...lane,
    name: 'a burst is decided without a second look',
    find: 'if (early <= 0 || !this.isWaiting) return',
    replace: 'return',
  },
  {
    ...replicas,
    name: 'the workers of other replicas do not count',
    find: 'Math.max(this.#slots, running, this.isFull ? 0 : this.#allSlots)',
    replace: 'this.#slots',
  },
  {
    ...replicas,
    name: 'what other replicas have accepted does not count',
    find: 'this.#ahead = due',
    replace: '',
  },
  {
    ...queue,
    name: 'what nobody knows yet is taken for nothing',
    find: '?? guess(this.#youngest(kind))',
    replace: '?? 0',
  },
  {
    ...lane,
    name: 'what waits is taken for as quick as what comes',
    find: 'this.#mix.add(kind)',
    replace: '',
  },
  {
    ...queue,
    name: 'what was slow long ago counts after a rest',
    find: 'now - this.#endedAt <= forgetAfter',
    replace: 'now > 0',
  },
  {
    ...queueTime,
    name: 'new work waits though a slot is free',
    find: 'if (slots === 0 || ahead < free) return 0',
    replace: 'if (slots === 0) return 0',
  },
  {
    ...queueTime,
    name: 'an operation that hangs counts like the others',
    find: 'Math.abs((usual ?? guess(age)) - age)',
    replace: 'Math.max(0, (usual ?? guess(age)) - age)',
  },
  {
    file: 'src/engine/queue-lane.ts',
    suite: ['src/engine/queue.test.ts'],
    name: 'a slot that is filled late counts as a fast one',
    find: '(this.#waiting > 0 ? this.#empty.shift() : undefined) ?? from',
    replace: 'from',
  },
  {
    file: 'src/engine/queue-lane.ts',
    suite: ['src/engine/queue.test.ts'],
    name: 'what is accepted while the ledger is looked at does not count',
    find: 'due + this.#unseen',
    replace: 'due',
  },
  {
    ...queueTime,
    name: 'accepted though it could only begin and not end',
    find: 'run < limit ? limit - run : limit',
    replace: 'limit',
  },
  {
    file: 'src/store/sqlite/group-commit.ts',
    suite: ['src/store/sqlite/group-commit.test.ts'],
    name: 'sqlite waits with a write as long as others come',
    find: ' && turns < mostTurns',
    replace: '',
  },
  {
    file: 'src/http/pace-refusals.ts',
    suite: ['src/http/pace-refusals.test.ts'],
    name: 'refusals go out as fast as they are asked for',
    find: 'return at > now ?',
    replace: 'return at < 0 ?',
  },
  {
    file: 'src/http/pace-refusals.ts',
    suite: ['src/http/pace-refusals.test.ts'],
    name: 'clients that log in too often are refused as fast as they ask',
    find: "  ['TooManyLogins', 'client'],\n",
    replace: '',
  },
  {
    file: 'src/http/pace-refusals.ts',
    suite: ['src/http/pace-refusals.test.ts'],
    name: 'a flood of logins delays what is refused for want of room',
    find: "'TooManyLogins', 'client'",
    replace: "'TooManyLogins', 'room'",
  },
  {
    file: 'src/http/pace-refusals.ts',
    suite: ['src/http/pace-refusals.test.ts'],
    name: 'a refusal waits for as long as there are others',
    find: ', now + longestWait)',
    replace: ')',
  },
  {
    ...queueTime,
    name: 'a process that is held up counts on slots that it does not use',
    find: 'free > 0 ? Math.max(turn, still) : turn',
    replace: 'turn',
  },
  {
    ...app,
    name: 'no refusal waits for its turn',
    find: 'await pace(error)',
    replace: '',
  },
  {
    file: 'src/store/sqlite/store.ts',
    suite: ['test/store/sqlite.test.ts'],
    name: 'sqlite shows an operation as it was before it was claimed',
    find: 'for (const { operation } of claimed.claims) cache.operations.forget(operation.id)',
    replace: '',
    only: 'known:',
  },
  {
    file: 'src/store/sqlite/store.ts',
    suite: ['test/store/sqlite.test.ts'],
    name: 'sqlite shows rows after it was closed',
    find: 'commits.flush()\n      cache.clear()',
    replace: 'commits.flush()',
    only: 'known:',
  },
]
