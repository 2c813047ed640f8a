/** Events for hand-made histories. */
import type { Asked, Polled } from './record.ts'

/** Each event is a second long and begins when the one before has ended. */
let clock = 0
export const next = () => {
  clock += 1_000
  return { start: clock, end: clock + 900 }
}

export function asked(action: Asked['action'], answer: Partial<Asked>): Asked {
  const create = action === 'provision' || action === 'update' || action === 'bind'
  const about = { type: 'asked', action, instance: 'i', group: clock, ...(create ? { variant: 'small' } : {}) } as const
  const binding = action === 'bind' || action === 'unbind' ? { binding: 'b' } : {}
  return { ...about, ...binding, ...next(), ...answer }
}

export function polled(operation: string, answer: Partial<Polled>): Polled {
  return { type: 'polled', instance: 'i', operation, status: 200, ...next(), ...answer }
}

export const accepted = (operation: string) => ({ status: 202, operation })
