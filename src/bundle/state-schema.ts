import type { JsonObject } from '../protocol/json.ts'

/** What the ledger keeps for an instance or a binding of a bundle, while none of its actions runs. */
export const bundleStateSchema: JsonObject = {
  type: 'object',
  additionalProperties: false,
  properties: {
    state: { type: 'object', additionalProperties: { type: 'string' } },
    credentials: { type: 'object' },
  },
}
