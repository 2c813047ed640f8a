import type { Binding } from './binding.ts'
import type { Change, HistoryEvent, Snapshot, Verdict } from './change.ts'
import { decideUnbind, type UnbindIntent } from './decide-unbind.ts'
import { noticeDue } from './expiry.ts'
import type { Operation } from './operation.ts'

export interface ExpiryIntent {
  /** Where the service wants it: what is begun when the binding has expired. */
  readonly unbind?: UnbindIntent
  /** How long after this look the next one is, where there is nothing more to do now. */
  readonly pause: number
  /** The same where somebody else is at work on the binding or its instance. */
  readonly pauseWhileBusy: number
  /** Who begins the unbind, for the history. */
  readonly by: string
}

export interface ExpiryAnswer {
  /** What is to be told: once for each time that has passed. */
  readonly told?: 'expiring' | 'expired'
  /** As it is now. */
  readonly binding?: Binding
  /** The unbind that has begun. */
  readonly operation?: Operation
}

/**
 * A look at a binding that expires: tells that it should be rotated, that it has expired, and unbinds it then where its service
 * wants that. The time of the next look says what was told already, so that whoever looks again after a crash tells nothing
 * twice. A binding stays due until it is gone: an unbind that fails, or was refused, comes again.
 */
export function decideExpiry(snapshot: Snapshot, intent: ExpiryIntent): Verdict<ExpiryAnswer> {
  const { instance, binding, now } = snapshot
  if (instance === undefined || binding?.expiresAt === undefined) return { answer: {} }
  const due = noticeDue(binding)
  // Somebody else was faster.
  if (due === undefined || due > now) return { answer: {} }
  const { expiresAt } = binding
  if (now < expiresAt) return look(snapshot, { ...binding, noticeAt: expiresAt }, 'expiring')
  const told = due <= expiresAt ? 'expired' : undefined
  const isBusy = snapshot.bindingOperation !== undefined || isHeld(snapshot.operation)
  if (intent.unbind === undefined || isBusy) {
    const pause = isBusy ? intent.pauseWhileBusy : intent.pause
    return look(snapshot, { ...binding, noticeAt: now + pause }, told)
  }
  const { answer, change } = decideUnbind(snapshot, intent.unbind)
  const later = (row: Binding): Binding => ({ ...row, noticeAt: now + intent.pause })
  const looked = look(snapshot, binding, told)
  return {
    answer: { ...looked.answer, operation: 'operation' in answer ? answer.operation : undefined },
    change: {
      ...change,
      bindings: change?.bindings?.map(later),
      history: [...historyIn(looked.change), ...historyIn(change).map(event => ({ ...event, by: intent.by }))],
    },
  }
}

/** What is not there to be used any more, or is on its way out, expires in silence. */
function look({ instance, now }: Snapshot, binding: Binding, about: ExpiryAnswer['told']): Verdict<ExpiryAnswer> {
  const told = binding.phase === 'ready' ? about : undefined
  const { instanceId, id: bindingId } = binding
  const event = { at: now, instanceId, bindingId, platform: instance?.platform }
  const history: HistoryEvent[] = told === undefined ? [] : [{ ...event, type: told }]
  return { answer: { told, binding }, change: { bindings: [binding], history } }
}

/** An observation gives way. */
function isHeld(operation: Operation | undefined): boolean {
  return operation !== undefined && operation.action !== 'observe'
}

function historyIn(change: Change | undefined): readonly HistoryEvent[] {
  return change?.history ?? []
}
