import { boundMutations } from './bound-mutations.ts'
import { bundleMutations } from './bundle-mutations.ts'
import { catalogMutations } from './catalog-mutations.ts'
import { choreMutations } from './chore-mutations.ts'
import { commandMutations } from './command-mutations.ts'
import { edgeMutations } from './edge-mutations.ts'
import { emptiedMutations } from './emptied-mutations.ts'
import { encryptionMutations } from './encryption-mutations.ts'
import { expiryMutations } from './expiry-mutations.ts'
import { fairnessMutations } from './fairness-mutations.ts'
import { historyMutations } from './history-mutations.ts'
import { kubernetesMutations } from './kubernetes-mutations.ts'
import { listMutations } from './list-mutations.ts'
import { loadMutations } from './load-mutations.ts'
import { manifestMutations } from './manifest-mutations.ts'
import { movingMutations } from './moving-mutations.ts'
import type { Mutation } from './mutation.ts'
import { observationMutations } from './observation-mutations.ts'
import { observeMutations } from './observe-mutations.ts'
import { orphanMutations } from './orphan-mutations.ts'
import { reconcileMutations } from './reconcile-mutations.ts'
import { replicaMutations } from './replica-mutations.ts'
import { reuseMutations } from './reuse-mutations.ts'
import { secretMutations } from './secret-mutations.ts'
import { seeingMutations } from './seeing-mutations.ts'
import { signInMutations } from './sign-in-mutations.ts'
import { takeMutations } from './take-mutations.ts'
import { verbMutations } from './verb-mutations.ts'
import { webMutations } from './web-mutations.ts'

export type { Mutation } from './mutation.ts'

const memory = { file: 'src/store/memory/progress.ts', suite: ['test/store/memory.test.ts'] }
const tables = { file: 'src/store/memory/tables.ts', suite: ['test/store/memory.test.ts'] }
const sql = { file: 'src/store/sqlite/statements.ts', suite: ['test/store/sqlite.test.ts'] }
const host = { file: 'src/store/sqlite/open.ts', suite: ['test/store/sqlite-host.test.ts'] }
const supersede = ['test/engine/supersede.test.ts']
const afterSweeps = ['test/engine/after-sweeps.test.ts']
const deadline = ['test/engine/deadline.test.ts']
const chores = ['test/engine/chores.test.ts']
const polls = ['test/engine/clean-up.test.ts']
const fenceless = `id = ? and ? is not null and state = 'running'`

export const mutations: readonly Mutation[] = [
  // Fences: a worker that lost its lease can write.
  ...Object.entries({
    renew: '    ',
    checkpoint: 'checkpoint: Checkpoint, now: number): boolean {\n  ',
    park: 'Parking): boolean {\n  ',
  }).map(([name, before]) => ({
    ...memory,
    name: `memory ${name} without its fence`,
    find: `${before}const operation = tables.heldOperation(lease)`,
    replace: `${before}const operation = tables.operations.get(lease.operationId)`,
  })),
  {
    ...memory,
    file: 'src/store/memory/share.ts',
    name: 'memory share without its fence',
    find: 'tables.heldOperation(lease)',
    replace: 'tables.operations.get(lease.operationId)',
  },
  {
    ...memory,
    file: 'src/store/memory/accept.ts',
    name: 'memory finish without its fence',
    find: 'tables.heldOperation(lease)',
    replace: 'tables.operations.get(lease.operationId)',
  },
  {
    ...memory,
    name: 'memory hand back without its fence',
    find: 'if (operation?.fence !== lease.fence) return false',
    replace: 'if (operation === undefined) return false',
  },
  {
    ...sql,
    name: 'sqlite renew without its fence',
    find: `where \${held} and lease_until > ?`,
    replace: `where ${fenceless} and lease_until > ?`,
  },
  {
    ...sql,
    name: 'sqlite checkpoint without its fence',
    find: `losses = 0, checkpoint_at = ? where \${held}`,
    replace: `losses = 0, checkpoint_at = ? where ${fenceless}`,
  },
  {
    ...sql,
    name: 'sqlite description without its fence',
    find: `set description = ifnull(?, description) where \${held}`,
    replace: `set description = ifnull(?, description) where ${fenceless}`,
  },
  {
    ...sql,
    name: 'sqlite park and hand back without their fence',
    find: `      description = ifnull(?, description) where \${held}\`,`,
    replace: `      description = ifnull(?, description) where ${fenceless}\`,`,
  },
  {
    ...sql,
    name: 'sqlite finish and share without their fence',
    find: `from operation where \${held}`,
    replace: `from operation where ${fenceless}`,
  },
  {
    ...sql,
    name: 'sqlite finish and share of what has ended',
    find: `from operation where \${held}`,
    replace: 'from operation where id = ? and fence = ?',
  },
  {
    ...tables,
    name: 'memory fences that do not rise',
    find: 'this.#fence += 1',
    replace: 'this.#fence = 1',
  },
  {
    file: 'src/store/sqlite/claim.ts',
    suite: sql.suite,
    name: 'sqlite fences that do not rise',
    find: 'fence: lastFence + 1 + index',
    replace: 'fence: 1',
  },

  // Leases.
  {
    ...memory,
    name: 'memory renew revives a lease that is over',
    find: ' || operation.leaseUntil <= now',
    replace: '',
  },
  {
    ...sql,
    name: 'sqlite renew revives a lease that is over',
    find: 'and lease_until > ?',
    replace: 'and ? is not null',
  },
  {
    name: 'a holder works on when its lease is over',
    file: 'src/engine/held-lease.ts',
    find: "() => this.abort('lost')",
    replace: '() => {}',
    suite: ['test/engine/take-over.test.ts'],
  },

  // One active operation, results that stay.
  {
    ...tables,
    name: 'memory without its unique index',
    find: 'if (other !== undefined)',
    replace: 'if (false)',
  },
  {
    file: 'src/store/freeze.ts',
    suite: ['test/store/memory.test.ts'],
    only: 'changing a row that was shown',
    name: 'memory shows rows that a caller can change',
    find: 'Object.freeze(value)',
    replace: '',
  },
  {
    file: 'src/store/sqlite/reads.ts',
    suite: sql.suite,
    only: 'changing a row that was shown',
    name: 'sqlite shows rows that a caller can change',
    find: 'freeze(convert(sealer, found))',
    replace: 'convert(sealer, found)',
  },
  {
    file: 'src/store/sqlite/numbered-instances.ts',
    suite: sql.suite,
    name: 'sqlite without its unique index',
    find: 'create unique index operation_one_active',
    replace: 'create index operation_one_active',
  },
  {
    file: 'src/store/sqlite/numbered-instances.ts',
    suite: sql.suite,
    name: 'sqlite loses the history of what is purged',
    find: 'update history set instance_number = null where instance_number = old.number;',
    replace: 'select 1;',
  },
  {
    file: 'src/store/sqlite/migrations.ts',
    suite: ['test/store/sqlite-upgrade.test.ts'],
    name: 'sqlite loses what refers to a table that is made anew',
    find: "database.exec('pragma foreign_keys = off')",
    replace: '',
  },
  { ...tables, name: 'memory overwrites a done step', find: ".state === 'done'", replace: ".state === 'no'" },
  { ...sql, name: 'sqlite overwrites a done step', find: "where step.state <> 'done'", replace: 'where true' },

  ...choreMutations,
  ...observationMutations,
  ...observeMutations,
  {
    name: 'a deletion whose code is gone is taken for done',
    file: 'src/broker/find-work.ts',
    find: 'broker.registered && mayCome ?',
    replace: 'broker.registered ?',
    suite: ['test/engine/left-service.test.ts'],
  },
  {
    name: 'a deletion that nobody can do is accepted',
    file: 'src/domain/left-service.ts',
    find: "return unknown === 'left' || revisionId === undefined",
    replace: "return unknown === 'left' && revisionId === unknown",
    suite: ['test/engine/left-service.test.ts'],
  },
  ...bundleMutations,
  ...kubernetesMutations,
  ...manifestMutations,
  ...replicaMutations,
  ...loadMutations,
  ...fairnessMutations,
  ...seeingMutations,
  ...listMutations,
  ...commandMutations,
  ...takeMutations,
  ...catalogMutations,
  ...boundMutations,
  ...reconcileMutations,

  // Drain and sweep: what the model of the protocol needs beside the fences.
  {
    name: 'no drain: a deletion starts at once',
    file: 'src/domain/intent.ts',
    find: 'notBefore: Math.max(by.notBefore, held)',
    replace: 'notBefore: by.notBefore',
    suite: supersede,
  },
  {
    name: 'no sweep',
    file: 'src/domain/sweep.ts',
    find: 'if (!deletion.unclean && unbind.length === 0) return undefined',
    replace: 'return undefined',
    suite: supersede,
  },
  {
    name: 'no sweep after a sweep that lost a call',
    file: 'src/domain/sweep.ts',
    find: 'if (!deletion.unclean && unbind.length === 0) return undefined',
    replace: "if (!deletion.unclean || deletion.action === 'sweep') return undefined",
    suite: supersede,
  },
  {
    name: 'no sweep of bindings that went with their instance',
    file: 'src/domain/sweep.ts',
    find: 'const input = unbind.length === 0 ? {} : { unbind }',
    replace: 'const input = {}',
    suite: supersede,
  },
  {
    name: 'bindings in doubt stay until their sweep',
    file: 'src/domain/settle-instance.ts',
    find: 'bindings: unbound.map(binding =>',
    replace: 'bindings: unbound.filter(binding => !unclean.includes(binding)).map(binding =>',
    suite: supersede,
  },
  // A deletion waits for sweeps of bindings, and is not refused for them.
  {
    name: 'sweeps of bindings count as busy',
    file: 'src/store/memory/accept.ts',
    find: "busy.filter(({ action }) => action !== 'sweep').length",
    replace: 'busy.length',
    suite: [...afterSweeps, 'test/store/memory.test.ts'],
  },
  {
    ...sql,
    name: 'sqlite counts sweeps of bindings as busy',
    find: `and \${active} and action = 'sweep'\``,
    replace: `and \${active} and action = ''\``,
  },
  {
    name: 'a deprovision does not wait for sweeps of bindings',
    file: 'src/broker/wait-for-sweeps.ts',
    find: 'if (swept === 0) return undefined',
    replace: 'if (swept >= 0) return undefined',
    suite: afterSweeps,
  },
  {
    name: 'a deprovision forgets that it has to wait for sweeps',
    file: 'src/domain/decide-deprovision.ts',
    find: 'input: afterSweeps ? { afterSweeps } : {}',
    replace: 'input: {}',
    suite: afterSweeps,
  },
  {
    name: 'the wait for sweeps outlasts the polling of the platform',
    file: 'src/broker/accept.ts',
    find: 'Math.min(sweepDelay(request.service), pollingLimit(request.plan) - limited)',
    replace: 'sweepDelay(request.service)',
    suite: afterSweeps,
  },
  {
    name: 'a sweep that loses a call puts off the deprovision',
    file: 'src/domain/settle-binding.ts',
    find: 'if (deprovision !== undefined)',
    replace: 'if (deprovision === null)',
    suite: afterSweeps,
  },
  {
    name: 'a deprovision forgets the call that a sweep before it has lost',
    file: 'src/domain/settle-binding.ts',
    find: 'operations: [{ ...deprovision, unclean: true }]',
    replace: 'operations: [deprovision]',
    suite: afterSweeps,
  },
  {
    name: 'an update forgets that it has to wait for sweeps',
    file: 'src/domain/decide-update.ts',
    find: '...(afterSweeps && { afterSweeps }),',
    replace: '',
    suite: afterSweeps,
  },
  {
    name: 'an update waits for sweeps longer than its request can',
    file: 'src/domain/decide-update.ts',
    find: 'if (afterSweeps && wait)',
    replace: 'if (afterSweeps && !wait && wait)',
    suite: afterSweeps,
  },
  ...reuseMutations,
  ...edgeMutations,
  ...signInMutations,
  ...emptiedMutations,
  ...encryptionMutations,
  ...historyMutations,
  ...expiryMutations,
  ...orphanMutations,
  ...secretMutations,
  ...movingMutations,
  ...verbMutations,
  ...webMutations,
  {
    name: 'a superseded operation leaves no doubt',
    hangs: true,
    file: 'src/domain/intent.ts',
    find: 'unclean: by.unclean || old.attempt > 0',
    replace: 'unclean: by.unclean',
    suite: supersede,
  },
  {
    name: 'a call without an answer leaves no doubt',
    file: 'src/engine/run.ts',
    find: "return [...this.#steps.values()].some(step => step.state === 'failed' || step.attempts > 1)",
    replace: 'return false',
    suite: supersede,
  },
  {
    name: 'a stop in the middle of a call leaves no doubt',
    file: 'src/engine/run-operation.ts',
    find: "await store.checkpoint(held.lease, { step: { ...failuresSoFar(claim), error: 'interrupted' } })",
    replace: 'void claim',
    suite: supersede,
  },
  {
    name: 'a crash leaves no doubt whether something was done',
    file: 'src/engine/run.ts',
    find: '!this.claim.operation.unclean && ',
    replace: '',
    suite: supersede,
  },
  {
    name: 'a lost lease leaves no doubt',
    file: 'src/domain/operation.ts',
    find: 'unclean: before.unclean || takenOver',
    replace: 'unclean: before.unclean',
    suite: supersede,
  },
  {
    name: 'the doubt of a failed bind ends with its instance',
    file: 'src/domain/settle-instance.ts',
    find: 'uncleanUntil > begun',
    replace: 'uncleanUntil < 0',
    suite: supersede,
  },

  // Shared resources.
  {
    name: 'a sweep does not look for a shared resource',
    file: 'src/domain/shared-claim.ts',
    find: " && !again) return { answer: 'ready'",
    replace: ") return { answer: 'ready'",
    suite: ['src/domain/shared-claim.test.ts'],
  },
  {
    name: 'a shared resource is removed under the claim of a neighbour',
    file: 'src/domain/shared-claim.ts',
    find: 'if (snapshot.otherClaims > 0)',
    replace: 'if (snapshot.otherClaims > 1_000)',
    suite: ['test/engine/shared-states.test.ts'],
  },
  {
    name: 'a shared resource is created while another removes it',
    file: 'src/domain/shared-claim.ts',
    find: "if (isHeldByOther(snapshot)) return { answer: 'busy', row, claim: true }",
    replace: '',
    suite: ['test/engine/shared-states.test.ts'],
  },

  {
    name: 'a shared resource is created before the calls of its removal have landed',
    file: 'src/domain/shared-claim.ts',
    find: "row.phase === 'removing' && !isQuiet",
    replace: 'false',
    suite: ['test/engine/shared.test.ts'],
  },
  {
    name: 'a removal with a call in doubt counts as settled',
    file: 'src/engine/run.ts',
    find: '(step.attempts > 1 || this.#isRepeated || isDoubted)) return',
    replace: 'false) return',
    suite: ['test/engine/shared.test.ts'],
  },
  {
    name: 'a removal beside a late call of the creation counts as settled',
    file: 'src/engine/run.ts',
    find: "const isDoubted = wish === 'release' && this.claim.operation.unclean",
    replace: 'const isDoubted = false',
    suite: ['test/engine/shared.test.ts'],
  },

  // Every operation ends.
  {
    name: 'no deadline',
    file: 'src/engine/run-operation.ts',
    find: "held.abort('deadline')",
    replace: 'undefined',
    suite: deadline,
  },
  {
    name: 'what can be awaited and is no promise has no deadline',
    hangs: true,
    file: 'src/engine/call.ts',
    find: 'if (!isThenable(answer)) return resolve(answer)',
    replace: 'if (!(answer instanceof Promise)) return resolve(answer)',
    suite: ['src/engine/call.test.ts'],
  },
  {
    name: 'no end of a poisonous operation',
    file: 'src/engine/run-operation.ts',
    find: 'operation.losses > poisonLosses',
    replace: 'false',
    suite: deadline,
  },
  // Chores: once per period, by the store's clock, and polls that come after a clean-up.
  {
    name: 'a period that was taken is taken again',
    file: 'src/engine/chores.ts',
    find: 'latest > (row?.dueAt ?? since)',
    replace: 'latest >= since',
    suite: chores,
  },
  {
    name: 'nobody takes over from a replica that died in a chore',
    file: 'src/engine/chores.ts',
    find: 'return row !== undefined && row.finishedAt === undefined ? row.dueAt : undefined',
    replace: 'return undefined',
    suite: chores,
  },
  {
    name: 'the schedule goes by the worker’s clock',
    file: 'src/engine/chores.ts',
    find: 'findDuePeriod(task.schedule, row, { now, since })',
    replace: 'findDuePeriod(task.schedule, row, { now: clock.now(), since })',
    suite: chores,
  },
  {
    name: 'a chore does not renew its lease',
    file: 'src/engine/chore-run.ts',
    find: 'void keepLease(held, clock, leaseTime)',
    replace: 'void keepLease',
    suite: chores,
  },
  {
    name: 'a chore that was stopped counts as failed',
    file: 'src/engine/chore-run.ts',
    find: 'if (held.signal.aborted) {',
    replace: 'if (false) {',
    suite: chores,
  },
  {
    name: 'a poll of a deletion that was cleaned up finds nothing',
    file: 'src/broker/last-operation.ts',
    find: 'if (operation === undefined) return { operation: deletionOf(target, resource.phase) }',
    replace: 'if (operation === undefined) throw unknown(target)',
    suite: polls,
  },

  // What authors write.
  {
    name: 'a catch around a step sees the end of the run',
    file: 'src/engine/run.ts',
    find: 'if (unanswered || error instanceof RunEnded) this.#end()\n        else reject(error)',
    replace: 'reject(error)',
    suite: ['test/engine/errors.test.ts'],
  },
  {
    name: 'a wrong result of an action is kept',
    file: 'src/author/check-result.ts',
    find: 'if (!reading.ok) throw',
    replace: 'if (!reading.ok && action === undefined) throw',
    suite: ['test/engine/results.test.ts'],
  },

  // What counts as a repeat, and as a platform.
  {
    name: 'a rotation of another service or plan counts as a repeat',
    file: 'src/domain/decide-bind.ts',
    find: ' && binding.serviceId === serviceId && binding.planId === requestedPlanId',
    replace: ' && (serviceId === requestedPlanId || true)',
    suite: ['test/conformance/rotate.test.ts'],
    only: 'ROT-10',
  },
  {
    name: 'any prefix of a path is a platform',
    file: 'src/http/routes.ts',
    find: "(segments[2] !== 'v2' || !prefixes.includes(prefix))",
    replace: "segments[2] !== 'v2'",
    suite: ['test/conformance/general.test.ts'],
    only: 'GEN-07',
  },

  // A store that does not answer.
  {
    name: 'a store that does not answer counts as a failure of the action',
    file: 'src/engine/run-operation.ts',
    find: 'if (run.interrupted) return parkInterrupted(running)',
    replace: '',
    suite: ['test/engine/outage.test.ts'],
  },
  {
    name: 'a step begins though the one before could not be noted',
    file: 'src/engine/run.ts',
    find: ' || this.interrupted',
    replace: '',
    suite: ['test/engine/outage.test.ts'],
  },
  {
    name: 'a step begins though the ledger did not answer a renewal',
    file: 'src/engine/held-lease.ts',
    find: 'this.#isSure && ',
    replace: '',
    suite: ['test/engine/outage.test.ts'],
  },

  // The machine below a broker.
  {
    name: 'leases and deadlines go by a clock that jumps',
    file: 'src/clock.ts',
    find: 'else now += passed + Math.sign(ahead) * (passed / 10)',
    replace: 'else now = wall()',
    suite: ['src/clock.test.ts'],
  },
  {
    ...host,
    name: 'what waits in the ledger waits for a clock that was set back',
    find: 'Math.max(0, latest - clock.now())',
    replace: '0',
    only: 'between two starts',
  },
  {
    ...host,
    name: 'a ledger whose file is gone is written on',
    find: 'if (index >= 0) throw',
    replace: 'if (index > 9) throw',
    only: 'answers nothing',
  },
  {
    file: 'src/engine/outage.ts',
    suite: ['src/engine/outage.test.ts'],
    name: 'a call that was sent into an outage begins another',
    find: 'if (sentAt < over) return',
    replace: '',
  },
  {
    name: 'a deadlock of the database is an outage',
    file: 'src/store/postgres/database.ts',
    find: 'left === 0 ||',
    replace: 'left >= 0 ||',
    suite: ['test/store/postgres-failures.test.ts'],
    only: 'in silence',
    needs: 'postgres',
  },
]
