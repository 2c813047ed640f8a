import { BrokerError } from '../protocol/errors.ts'
import type { Instance } from './instance.ts'
import type { Intent } from './intent.ts'

export function sayLeft(serviceId: string): string {
  return `The service ${JSON.stringify(serviceId)} has left this broker, and the instance still needs it. The operator of the broker has to put it back into the code or the catalog; then repeat the request.`
}

/**
 * A deletion is to be repeated until the service is back: a 4xx would be the platform's last word (ORPH-24, ORPH-25). What
 * is new is refused with one: after a 5xx platforms would delete what they asked for.
 */
export function serviceLeft(serviceId: string, wish: 'deletion' | 'new'): BrokerError {
  if (wish === 'new') return new BrokerError('UnknownService', sayLeft(serviceId))
  return new BrokerError('ServiceLeft', sayLeft(serviceId), { retryAfter: 60 })
}

/** Whether the code that has worked on the instance is gone. One that waits for its catalog was never worked on. */
export function isLeft({ revisionId, awaitsCatalog }: Instance, unknown: Intent['unknownService']): boolean {
  if (unknown === undefined || awaitsCatalog === true) return false
  return unknown === 'left' || revisionId === undefined
}
