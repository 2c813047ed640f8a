import type { Mutation } from './mutation.ts'

const metrics = { suite: ['test/observer/metrics.test.ts'] }
const traces = { suite: ['test/observer/traces.test.ts'] }
const levels = { suite: ['test/observer/log-levels.test.ts'] }
const folding = { suite: ['src/domain/fold-services.test.ts'] }

/** What operators are told: bounded, without secrets, and nothing where it is off. */
export const observeMutations: readonly Mutation[] = [
  {
    ...metrics,
    only: '10,000 instances',
    file: 'src/observer/metrics/bounded.ts',
    name: 'labels of metrics have no bound',
    find: 'if (known.size >= most) return other',
    replace: '',
  },
  {
    ...metrics,
    only: 'whatever clients send',
    file: 'src/observer/metrics/metrics.ts',
    name: 'metrics are labelled with whatever method a client sends',
    find: 'methods.has(method) ? method : other',
    replace: 'method',
  },
  {
    ...metrics,
    file: 'src/running/served-metrics.ts',
    name: 'metrics that are off are served',
    find: "if (settings.serve === 'off') return undefined",
    replace: '',
  },
  {
    ...metrics,
    file: 'src/http/app.ts',
    name: 'platforms may read the metrics',
    find: "checkRole(principal, 'viewer')",
    replace: '',
  },
  {
    ...metrics,
    file: 'src/running/measured-store.ts',
    name: 'a store is measured although nobody listens',
    find: 'if (tell === undefined) return store',
    replace: '',
  },
  {
    ...folding,
    file: 'src/domain/fold-services.ts',
    name: 'gauges tell every service apart',
    find: 'sorted.slice(0, most)',
    replace: 'sorted',
  },
  {
    ...traces,
    file: 'src/observer/traces.ts',
    name: 'a span tells the message of an error',
    find: 'error instanceof Error ? error.name : typeof error',
    replace: 'String(error)',
  },
  {
    ...traces,
    file: 'src/running/open-tracer.ts',
    name: 'traces that are off are made',
    find: "if (mode === 'off') return undefined",
    replace: '',
  },
  {
    ...levels,
    file: 'src/http/admin/routes.ts',
    name: 'viewers may change what is logged',
    find: "'/admin/log-levels': { method: 'PUT', role: 'admin'",
    replace: "'/admin/log-levels': { method: 'PUT', role: 'viewer'",
  },
  {
    file: 'src/observer/line-writer.ts',
    suite: ['src/observer/log.test.ts'],
    name: 'a warning waits for other lines',
    find: 'if (urgent || waiting',
    replace: 'if (waiting',
  },
  {
    file: 'src/observer/end-time.ts',
    suite: ['src/observer/log.test.ts'],
    name: 'lines of requests never look at the clock again',
    find: 'passed >= 0 && passed < lookEvery',
    replace: 'passed !== undefined && lookedAt === lookedAt',
  },
  {
    file: 'src/observer/texts.ts',
    suite: ['src/observer/log.test.ts'],
    name: 'JSON that is not ASCII is written as if it were',
    find: 'toAscii(JSON.stringify(value))',
    replace: 'JSON.stringify(value)',
  },
  {
    file: 'src/observer/remember.ts',
    suite: ['src/observer/remember.test.ts'],
    name: 'the log writes the text of the value before',
    find: 'if (value !== latest) {',
    replace: "if (made === '') {",
  },
  {
    file: 'src/observer/request-format.ts',
    suite: ['src/observer/log.test.ts'],
    name: 'the line of a request begins as the one before',
    find: 'if (!isRepeated) {',
    replace: "if (shared === '') {",
  },
  {
    file: 'src/observer/remember.ts',
    suite: ['src/observer/remember.test.ts'],
    name: 'the log remembers every value that it has written',
    find: 'if (known.size < most) known',
    replace: 'known',
  },
]
