/**
 * Judges a storm by what was written down: pure, so that each rule can be shown to fail. Every rule answers the breaches that
 * it found, in words.
 */
import { isActive } from '../../src/domain/operation.ts'
import type { HistoryEvent, Operation } from '../../src/store.ts'
import { findContradictions } from './explain.ts'
import type { Asked, BackendCall, BackendRecord, LedgerInstance, LedgerNote, Polled } from './record.ts'
import { bindingName, partNames, sharedName } from './service.ts'

export interface Evidence {
  /** Of each instance, in the order of its platform. */
  readonly events: ReadonlyMap<string, readonly (Asked | Polled)[]>
  readonly notes: readonly LedgerNote[]
  /** When nothing was active any more. */
  readonly ledger: readonly LedgerInstance[]
  readonly backend: BackendRecord
}

export function check(evidence: Evidence): readonly string[] {
  const operations = new Map(evidence.ledger.flatMap(({ operations }) => operations.map(one => [one.id, one])))
  const histories = new Map(evidence.ledger.map(({ row, history }) => [row.id, history]))
  const events = [...evidence.events.values()]
  return [
    ...events.flatMap(list => checkAnswers(list, operations)),
    ...[...evidence.events].flatMap(([id, list]) => findContradictions(list, histories.get(id) ?? [])),
    ...evidence.ledger.flatMap(({ history }) => checkHistory(history)),
    ...checkNotes(evidence.notes),
    ...checkBackend(evidence.ledger, evidence.backend),
  ]
}

/** Every 202 has an end, one end, and the one that the polls were told; only the lack of a store is an excuse, as a 5xx. */
export function checkAnswers(
  events: readonly (Asked | Polled)[],
  operations: ReadonlyMap<string, Operation>,
): readonly string[] {
  const problems: string[] = []
  const ends = new Map<string, string>()
  for (const event of events) {
    const where = `${event.instance} ${event.operation ?? ''}`
    if (event.status === 500) problems.push(`${where}: answered 500 ${event.text}`)
    const operation = operations.get(event.operation ?? '')
    if (event.operation !== undefined && operation === undefined) problems.push(`${where}: the ledger does not know it`)
    if (event.type === 'asked') {
      if (event.status === 202 && event.operation === undefined) problems.push(`${where}: a 202 without an operation`)
      else if (event.status === 202 && !ends.has(event.operation ?? '')) ends.set(event.operation ?? '', '')
      continue
    }
    const { state } = event
    if (event.status === 200 ? state === undefined : event.status !== undefined && event.status < 500)
      problems.push(`${where}: a poll was answered ${event.status} ${event.text}`)
    const before = ends.get(event.operation)
    if (state === undefined) continue
    if (before !== undefined && before !== '' && before !== state)
      problems.push(`${where}: had ended as ${before}, and a later poll says ${state}`)
    if (state === 'in progress') continue
    ends.set(event.operation, state)
    const told = operation?.state === 'succeeded' ? 'succeeded' : 'failed'
    if (operation !== undefined && state !== told)
      problems.push(`${where}: a poll says ${state}, the ledger ${operation.state}`)
  }
  for (const [operation, end] of ends) if (end === '') problems.push(`${operation} was accepted and never ended`)
  for (const id of ends.keys()) if (isActive(operations.get(id))) problems.push(`${id} is still active in the ledger`)
  return problems
}

/** At most one active operation per resource; those of an instance and of its bindings exclude each other; one end each. */
export function checkHistory(history: readonly HistoryEvent[]): readonly string[] {
  const problems: string[] = []
  const open = new Map<string, HistoryEvent>()
  const ended = new Set<string>()
  for (const event of history) {
    const { operationId: id = '', bindingId, type, action } = event
    const name = `${action} ${id} of ${event.instanceId} ${bindingId ?? ''}`.trim()
    const resource = bindingId ?? ''
    const [instance, bindings] = [open.get(''), [...open].filter(([key]) => key !== '')]
    if (type === 'accepted') {
      const beside = open.get(resource) ?? (bindingId === undefined ? bindings[0]?.[1] : instance)
      if (beside !== undefined) problems.push(`${name} was accepted beside ${beside.action} ${beside.operationId}`)
      open.set(resource, event)
    } else if (type === 'succeeded' || type === 'failed' || type === 'superseded') {
      if (ended.has(id)) problems.push(`${name} ended twice`)
      ended.add(id)
      const active = open.get(resource)
      // A sweep is accepted by nobody; until it has ended, nothing else of its resource begins, but a creation may take it along.
      const takenAlong = active !== undefined && id.startsWith(`${active.operationId}-sweep`)
      if (action === 'sweep' ? active !== undefined && !takenAlong : active?.operationId !== id)
        problems.push(`${name} ended as ${type} while ${active?.operationId ?? 'nothing'} was active`)
      if (action !== 'sweep') open.delete(resource)
    }
  }
  for (const { action, operationId } of open.values()) problems.push(`${action} ${operationId} has no end`)
  return problems
}

/** What a holder writes is refused as soon as there is another one; each step is committed once; an end is the end. */
export function checkNotes(notes: readonly LedgerNote[]): readonly string[] {
  const problems: string[] = []
  const byOperation = new Map<string, LedgerNote[]>()
  for (const note of notes)
    if (note.written) byOperation.set(note.operation, [...(byOperation.get(note.operation) ?? []), note])
  for (const [operation, written] of byOperation) {
    for (const claim of written.filter(({ type }) => type === 'claim'))
      for (const note of written)
        if (note.fence < claim.fence && note.start > claim.end)
          problems.push(
            `${operation}: ${note.replica} wrote a ${note.type} under fence ${note.fence} after ${claim.replica} had got ${claim.fence}`,
          )
    const fences = written.filter(({ type }) => type === 'claim').map(({ fence }) => fence)
    if (new Set(fences).size < fences.length) problems.push(`${operation}: two claims have the same fence`)
    const steps = written.flatMap(({ step }) => (step === undefined ? [] : [step]))
    for (const step of new Set(steps.filter((step, index) => steps.indexOf(step) !== index)))
      problems.push(`${operation}: the step ${step} was committed twice`)
    const finishes = written.filter(({ type }) => type === 'finish')
    if (finishes.length > 1) problems.push(`${operation}: finished ${finishes.length} times`)
    for (const { end } of finishes)
      for (const note of written)
        if (note.start > end) problems.push(`${operation}: ${note.replica} wrote a ${note.type} after its end`)
  }
  return problems
}

/** What the ledger says is there is there, with what was asked for last; what it says is gone is gone; nothing else is there. */
export function checkBackend(ledger: readonly LedgerInstance[], backend: BackendRecord): readonly string[] {
  const problems: string[] = []
  const { things } = backend
  const inTime = replay(backend.calls.filter(({ late }) => late !== true))
  const allowed = new Set<string>()
  for (const { row, bindings, history, operations } of ledger) {
    const parts = partNames(row.id)
    if (row.phase !== 'deleted') for (const part of parts) allowed.add(part)
    if (row.phase === 'ready') {
      for (const part of parts)
        if (things[part] === undefined) problems.push(`${row.id} is ready, and ${part} is missing`)
      const value = lastSet(history, operations) ? row.parameters.size : undefined
      // A call that landed when nobody waited for it any more may have overwritten a later one: without a fence of its own
      // the backend cannot tell, so what counts is what it holds without such calls.
      for (const part of parts)
        if (value !== undefined && things[part] !== value && inTime.get(part) !== value)
          problems.push(`${row.id} is ready with ${String(value)}, and ${part} is ${things[part]}`)
    }
    for (const binding of bindings) {
      const name = bindingName(row.id, binding.id)
      allowed.add(name)
      if (binding.phase === 'ready' && things[name] === undefined)
        problems.push(`${name} is ready, and there is none in the backend`)
    }
  }
  const sharing = ledger.filter(({ row }) => row.planId === 'shared' && row.phase !== 'deleted')
  if (sharing.length > 0) allowed.add(sharedName)
  if (sharing.some(({ row }) => row.phase === 'ready') && things[sharedName] === undefined && !inTime.has(sharedName))
    problems.push('what ready instances share is missing')
  for (const name of Object.keys(things))
    if (!allowed.has(name)) problems.push(`${name} is in the backend, and the ledger has nothing that needs it`)
  return problems
}

/** Whether the last one that set the parts did so to its end: one that failed half-way leaves them mixed. */
function lastSet(history: readonly HistoryEvent[], operations: readonly Operation[]): boolean {
  const set = history.filter(
    ({ type, action }) => type === 'accepted' && (action === 'provision' || action === 'update'),
  )
  const last = set.at(-1)?.operationId
  return operations.find(({ id }) => id === last)?.state === 'succeeded'
}

/** What the backend would hold after these calls. */
function replay(calls: readonly BackendCall[]): ReadonlyMap<string, string> {
  const things = new Map<string, string>()
  for (const { kind, name, value, appliedAt } of calls) {
    if (appliedAt === undefined) continue
    if (kind === 'put') things.set(name, value ?? '')
    if (kind === 'drop') things.delete(name)
  }
  return things
}
