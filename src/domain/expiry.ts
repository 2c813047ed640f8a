import type { Binding } from './binding.ts'

/** When a binding is due for the chore `expiry`: undefined where it never is. */
export function noticeDue({
  phase,
  expiresAt,
  noticeAt = expiresAt,
}: Pick<Binding, 'phase' | 'expiresAt' | 'noticeAt'>): number | undefined {
  return phase === 'deleted' ? undefined : noticeAt
}

/** The first look at a binding that expires. */
export function firstNotice({ expiresAt, renewBefore }: Pick<Binding, 'expiresAt' | 'renewBefore'>) {
  return expiresAt === undefined ? undefined : Math.min(renewBefore ?? expiresAt, expiresAt)
}
