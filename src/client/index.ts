/** `purser/client`: the OSB API as a platform speaks it, and Purser's own API for operators, typed. */
export {
  type AdminClient,
  type ChangeReport,
  type ChoreBody,
  type CollisionBody,
  createAdminClient,
  type OperationLogBody,
  type RegisteredServiceBody,
  type RegistriesBody,
  type RegistryBody,
  type ReportedServiceBody,
  type RunLogBody,
  type StartedRun,
} from './admin-client.ts'
export { OsbConnectionError } from './connection-error.ts'
export type { PolledAction } from './judge-poll.ts'
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
} from './messages.ts'
export type { AsyncCallOptions, OsbClient } from './osb-client.ts'
export { createOsbClient } from './osb-client.ts'
export type { PollOptions, PollProgress, PollResult, PollTarget } from './poll.ts'
export { pollUntilDone } from './poll.ts'
export type { HeaderOverrides, OriginatingIdentity, Query } from './request.ts'
export type { CallOptions, OsbClientOptions, OsbResponse } from './sender.ts'
