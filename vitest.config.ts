import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/longest-first.ts'
import { mutate } from './test/mutation/plugin.ts'

/** About what is written, here and in the documents: part of `npm run check`. */
const documents = ['test/architecture.test.ts', 'test/docs/**/*.test.ts', 'test/conformance/coverage.test.ts']

/** Long ones about the promise itself: models, crashes and storms. */
const slow = [
  'test/model/**/*.test.ts',
  'test/crash/**/*.test.ts',
  'test/storm/storm.test.ts',
  'test/simulation/**/*.test.ts',
  'test/spin/**/*.test.ts',
  'test/driver/crash.test.ts',
]

/** MongoDB, and what the contract of stores does not show of PostgreSQL: `npm run test:systems`. */
const databases = [
  'test/store/{postgres-*,mongodb,mongodb-*}.test.ts',
  'test/replicas/{at-once,chores,clocks,migrate,queue,regressions,reused-ids,slow-service}.test.ts',
  'test/moving/**/*.test.ts',
]

/** Whole brokers as people run them, with browsers, registries, tools and databases that fail over: `npm run test:systems`. */
const systems = [
  'test/replicas/{deployment,names,outage,overload,rolling,signals}.test.ts',
  'test/storm/failover.test.ts',
  'test/store/postgres-pooler-contract.test.ts',
  'test/cli/{author-loop,init,shells}.test.ts',
  'test/sample-bundles/**/*.test.ts',
  'test/samples/**/*.test.ts',
  'test/e2e/**/*.test.ts',
  'test/bundle-helpers/ansible.test.ts',
  'test/marketplace/**/*.test.ts',
  'test/package/**/*.test.ts',
  'test/deploy/**/*.test.ts',
  'test/console/{console,long-lists,sign-in,states}.test.ts',
]

/** They need a container engine, and most of them build images: `npm run test:containers`. */
const containers = [
  'test/cli/{bundle-image,publish}.test.ts',
  'test/deploy/image.test.ts',
  'test/marketplace/{containers,keep-pinned}.test.ts',
  'test/registry/built-image.test.ts',
  'test/sample-bundles/redis-image.test.ts',
  'test/sandbox/{apb,container}-*.test.ts',
]

/** They need a cluster, or an API server: `npm run test:kubernetes`. */
const kubernetes = ['test/kubernetes/**/*.test.ts']

/** What is switched off must turn a suite, or a cluster of real processes, red: `npm run test:guards`. */
const guards = ['test/mutation/guards.test.ts', 'test/storm/guards.test.ts']

// Generous: on a loaded machine a test may wait long for its turn, and none depends on speed.
export default defineConfig({
  plugins: [mutate()],
  test: {
    // Many processes load the same files one after the other: what was compiled is kept in node_modules.
    experimental: { fsModuleCache: true },
    sequence: { sequencer: LongestFirst },
    setupFiles: ['test/fail-on-leaks.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          // What a file leaves behind is its own mistake; loading everything anew for each took half of the time.
          isolate: false,
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...documents, ...slow, ...databases, ...systems, ...guards, ...containers, ...kubernetes],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'documents',
          isolate: false,
          include: documents,
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'slow',
          include: slow,
          testTimeout: 600_000,
          hookTimeout: 600_000,
          // Each of them is a process or two of its own.
          maxConcurrency: 2,
        },
      },
      {
        extends: true,
        test: {
          name: 'databases',
          // They share what is loaded, and one server of each kind.
          isolate: false,
          include: databases,
          exclude: systems,
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'systems',
          include: systems,
          exclude: containers,
          testTimeout: 600_000,
          hookTimeout: 600_000,
          maxConcurrency: 2,
        },
      },
      {
        extends: true,
        test: {
          name: 'containers',
          include: containers,
          testTimeout: 600_000,
          hookTimeout: 600_000,
          maxConcurrency: 2,
        },
      },
      {
        extends: true,
        test: {
          name: 'kubernetes',
          include: kubernetes,
          testTimeout: 600_000,
          hookTimeout: 600_000,
          // A node takes a second to notice anything: they wait more than they compute.
          maxConcurrency: 4,
        },
      },
      {
        extends: true,
        test: {
          name: 'guards',
          include: guards,
          testTimeout: 600_000,
          hookTimeout: 600_000,
          // Tests without their guard often wait until their time is over.
          maxConcurrency: Math.max(5, availableParallelism()),
        },
      },
    ],
  },
})
