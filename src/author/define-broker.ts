import type { BrokerDefinition } from './broker-definition.ts'

/** A broker is its services; everything around them is ours. What comes back is data: `createBroker` runs it. */
export function defineBroker(definition: BrokerDefinition): BrokerDefinition {
  return definition
}
