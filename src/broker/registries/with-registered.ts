import type { Offering } from '../../protocol/offering.ts'
import type { ServiceIndex } from '../resolve-services.ts'
import type { RegisteredCatalog } from './registered-catalog.ts'

/** The broker's own services, and behind them what registries offer. */
export function withRegistered(own: ServiceIndex, registered: RegisteredCatalog): ServiceIndex {
  let shown: readonly Offering[] | undefined
  let offerings = own.offerings
  return {
    ...own,
    get offerings() {
      if (registered.offerings !== shown) {
        shown = registered.offerings
        offerings = [...own.offerings, ...shown]
      }
      return offerings
    },
    of: ({ serviceId, revisionId }) => (revisionId === undefined ? own.find(serviceId) : registered.at(revisionId)),
  }
}
