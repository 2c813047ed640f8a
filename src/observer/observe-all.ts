import type { BrokerEvents, EventType } from '../events.ts'
import type { Observer } from '../observer.ts'
import { eventTypes } from './lines.ts'

/** Listens to every event. */
export function observeAll(listen: (type: EventType, event: BrokerEvents[EventType]) => void): Observer {
  return Object.fromEntries(eventTypes.map(type => [type, (event: never) => listen(type, event)]))
}
