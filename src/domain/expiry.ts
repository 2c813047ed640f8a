import type { Binding } from './binding.ts'

/** What a service says of how long its bindings last, in milliseconds. */
export interface BindingLife {
  readonly lifetime?: number
  readonly renewBefore?: number
}

type Times = Pick<Binding, 'expiresAt' | 'renewBefore'>

/** When a binding that is made now expires: as its bind has said, or else as its service says. */
export function expiryOf(given: Times, { lifetime, renewBefore: early }: BindingLife, now: number): Times {
  const expiresAt = given.expiresAt ?? (lifetime === undefined ? undefined : now + lifetime)
  const wanted = given.renewBefore ?? (early === undefined ? undefined : Math.max(now, (expiresAt ?? 0) - early))
  if (expiresAt === undefined) return { renewBefore: given.renewBefore }
  return { expiresAt, renewBefore: wanted === undefined ? undefined : Math.min(wanted, expiresAt) }
}

/** The first look at a binding that expires: when it should be rotated, or has expired. */
export function firstNotice({ expiresAt, renewBefore }: Times): number | undefined {
  return expiresAt === undefined ? undefined : Math.min(renewBefore ?? expiresAt, expiresAt)
}

/** When a binding is due for the chore `expiry`: undefined where it never is. */
export function noticeDue({
  phase,
  expiresAt,
  noticeAt = expiresAt,
}: Pick<Binding, 'phase' | 'expiresAt' | 'noticeAt'>): number | undefined {
  return phase === 'deleted' ? undefined : noticeAt
}
