import type { Mutation } from './mutation.ts'

const memory = { suite: ['test/store/memory.test.ts'] }
const sqlite = { suite: ['test/store/sqlite.test.ts'] }
const postgres = { needs: 'postgres', suite: ['test/store/postgres.test.ts'] } as const
const mongodb = { needs: 'mongodb', suite: ['test/store/mongodb.test.ts'] } as const
const leftOut = 'left out'
const quota = 'quota:'
const worker = {
  file: 'src/engine/worker.ts',
  suite: ['test/replicas/slow-service.test.ts'],
  only: 'memory|places|waits for',
}
const shares = { ...worker, file: 'src/engine/shares.ts' }
const http = { suite: ['test/http/limits.test.ts'] }

/** What keeps one service, principal or platform from having what belongs to all. */
export const fairnessMutations: readonly Mutation[] = [
  {
    ...memory,
    file: 'src/store/memory/claim.ts',
    only: leftOut,
    name: 'memory claims what is left out',
    find: 'if (isLeftOut(operation, leftOut)) continue',
    replace: '',
  },
  {
    ...sqlite,
    file: 'src/store/sqlite/statements.ts',
    only: leftOut,
    name: 'sqlite claims what is left out',
    find: 'dueOthers: due(` and ${notLeftOut}`)',
    replace: 'dueOthers: due(` and (true or ${notLeftOut})`)',
  },
  {
    ...postgres,
    file: 'src/store/postgres/statements.ts',
    only: leftOut,
    name: 'postgres claims what is left out',
    find: "` and coalesce(o.service_key, '') <> all ($${first})",
    replace: '` and ($${first}::text[] is null or true)',
  },
  {
    ...mongodb,
    file: 'src/store/mongodb/claim.ts',
    only: leftOut,
    name: 'mongodb claims what is left out',
    find: ', ...notLeftOut(leftOut)',
    replace: '',
  },
  {
    ...memory,
    file: 'src/store/memory/accept.ts',
    only: 'take:',
    name: 'what a worker does not want is leased to it',
    find: ' || !taker.wants(due)',
    replace: '',
  },
  {
    ...shares,
    name: 'a claim leaves nobody out',
    find: 'leftOut: isEmpty(leftOut) ? undefined : leftOut',
    replace: 'leftOut: undefined',
  },
  {
    ...shares,
    name: 'a claim brings as many as there are places',
    find: 'most: Math.min(most, ...others)',
    replace: 'most: free',
  },
  {
    ...shares,
    name: 'a service has all places though there are others',
    find: 'this.#rules.isShared() ? fairRoom(taken, free) : free',
    replace: 'free',
  },
  {
    ...shares,
    name: 'what waits for a service that hangs is waited for by all',
    find: 'return isEmpty(passed) ? undefined : passed',
    replace: 'return isEmpty(passed) ? passed : undefined',
  },
  {
    ...worker,
    name: 'what is accepted has a place whoever it belongs to',
    find: 'if (isLeftOut(operation, this.#leftOut) || !shares.hasRoom(',
    replace: 'if (isLeftOut(operation, undefined) && !shares.hasRoom(',
  },
  {
    ...worker,
    name: 'a place that is given back is nobody’s',
    find: 'this.#options.shares.hasRoomAgain(leftOut, this.#free())',
    replace: 'leftOut.services.length < 0',
  },
  {
    file: 'src/domain/fair-share.ts',
    suite: ['src/domain/fair-share.test.ts'],
    name: 'a service that has some takes the last place',
    find: ', free - 1))',
    replace: ', free))',
  },
  {
    ...memory,
    file: 'src/store/memory/accept.ts',
    only: quota,
    name: 'memory has no quotas',
    find: 'if (change.within !== undefined) requireQuota(',
    replace: 'if (change === undefined) requireQuota(',
  },
  {
    ...sqlite,
    file: 'src/store/sqlite/accept.ts',
    only: quota,
    name: 'sqlite has no quotas',
    find: 'if (verdict.change?.within !== undefined) requireQuota(',
    replace: 'if (verdict === undefined) requireQuota(',
  },
  {
    ...postgres,
    file: 'src/store/postgres/quota.ts',
    suite: ['test/store/postgres-replicas.test.ts'],
    only: 'is about to write',
    name: 'postgres counts two at once without each other',
    find: 'perform pg_advisory_xact_lock(hashtextextended(',
    replace: 'perform (hashtextextended(',
  },
  {
    ...mongodb,
    file: 'src/store/mongodb/quota.ts',
    only: quota,
    name: 'mongodb counts two at once without each other',
    find: 'await collections.lane.updateOne({ _id: lane }, touch, { session, upsert: true })',
    replace: 'await collections.lane.findOne({ _id: lane }, { session })',
  },
  {
    ...http,
    file: 'src/domain/quota.ts',
    name: 'a deletion is refused where too much is in progress',
    find: "['provision', 'update', 'bind']",
    replace: 'countedActions',
  },
  {
    ...http,
    file: 'src/broker/accept.ts',
    name: 'no platform has a quota',
    find: 'return within === undefined ? verdict',
    replace: 'return within !== null ? verdict',
  },
  {
    ...http,
    file: 'src/http/app.ts',
    name: 'a principal may send any number of requests',
    find: '    limitRequests(principal, exchange)\n',
    replace: '',
  },
  {
    ...http,
    file: 'src/http/limit-requests.ts',
    name: 'all principals share one rate',
    find: 'JSON.stringify([platform, name])',
    replace: "''",
  },
]
