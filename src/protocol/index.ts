/** The OSB API 2.17 as data: the catalog's shape, the error words, JSON. */
export { type Action, actions } from './actions.ts'
export { BrokerError, type BrokerErrorDetail, type ErrorCode, errorStatus } from './errors.ts'
export { isJsonObject, type Json, type JsonObject } from './json.ts'
export {
  isBindable,
  isPlanUpdateable,
  type Offering,
  type Plan,
  type PlanSchemas,
  type Requires,
} from './offering.ts'
