/** `purser/client`: the OSB API as a platform speaks it, and Purser's own API for operators, typed. */
export type * from './acting-bodies.ts'
export type * from './admin-bodies.ts'
export * from './admin-client.ts'
export { OsbConnectionError } from './connection-error.ts'
export type * from './messages.ts'
export * from './osb-client.ts'
export {
  type PolledAction,
  type PollOptions,
  type PollProgress,
  type PollResult,
  type PollTarget,
  pollUntilDone,
} from './poll.ts'
export type { HeaderOverrides, OriginatingIdentity, Query } from './request.ts'
export type { AsyncCallOptions, CallOptions, Opened, OsbClientOptions, OsbResponse } from './sender.ts'
