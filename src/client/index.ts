/** `purser/client`: the OSB API as a platform speaks it, typed. */
export { OsbConnectionError } from './connection-error.ts'
export type { PolledAction } from './judge-poll.ts'
export type { AsyncCallOptions, CallOptions, OsbClient, OsbClientOptions, OsbResponse } from './osb-client.ts'
export { createOsbClient } from './osb-client.ts'
export type { PollOptions, PollProgress, PollResult, PollTarget } from './poll.ts'
export { pollUntilDone } from './poll.ts'
export type { OriginatingIdentity } from './request.ts'
export type {
  BindAnswer,
  BindingData,
  BindRequest,
  DeleteAnswer,
  DeleteQuery,
  FetchedBinding,
  FetchedInstance,
  FetchQuery,
  InstanceAnswer,
  InstanceMetadataBody,
  LastOperation,
  LastOperationQuery,
  ProvisionRequest,
  UpdateRequest,
  WireCatalog,
  WireError,
  WireMaintenanceInfo,
  WireOffering,
  WirePlan,
} from './wire.ts'
