/**
 * Purser: an Open Service Broker for TypeScript.
 *
 * - `defineService`, `defineBroker`: what an author writes, as data. `TerminalError`: "stop, retrying cannot help".
 *   `sensitive`: a value that no log, error or page shows.
 * - `createBroker`: runs what was defined, inside any application. `purser serve` does it as a server of its own.
 * - `purser/express`, `purser/fastify`: that broker as a part of such an application.
 * - `purser/server`: the parts of the server, and `createBasicAuthenticator`. `purser/sign-in`: authenticators for tokens, certificates
 *   and OpenID Connect. `purser/client`: talk to any broker.
 * - `purser/store`: the contracts of the ledger. `purser/store/memory`, `purser/store/sqlite`, `purser/store/postgres` and
 *   `purser/store/mongodb` keep them.
 * - `purser/registry`: where bundles come from. `purser/sandbox`: what runs them.
 * - `purser/protocol`: the OSB API's words. `purser/testing`: contract suites, a virtual clock, a test broker.
 */
export type {
  Authentication,
  AuthenticationRequest,
  Authenticator,
  BegunSignIn,
  Memory,
  PeerCertificate,
  Principal,
  Refusal,
  Remembered,
  Role,
  SignIn,
  TlsConnection,
} from './authenticator.ts'
export type * from './author/backend.ts'
export * from './author/broker-definition.ts'
export type * from './author/context.ts'
export * from './author/define-service.ts'
export type { Jsonify, NotJson, Storable } from './author/jsonify.ts'
export type * from './author/results.ts'
export type { InferInput, InferParameters, ParameterSource } from './catalog/parameters.ts'
export type { StandardIssue, StandardResult, StandardSchemaV1 } from './catalog/standard-schema.ts'
export type { Clock } from './clock.ts'
export { type Broker, type BrokerOptions, createBroker } from './create-broker.ts'
export type { AsyncMode } from './domain/intent.ts'
export type { Call } from './engine/call.ts'
export { TerminalError, type TerminalErrorOptions } from './engine/errors.ts'
export type { Wait } from './engine/work.ts'
export type * from './events.ts'
export type { HttpApp, HttpBroker, HttpRequest, HttpResponse } from './http/message.ts'
export type { AreaLevel, LogArea } from './observer/levels.ts'
export type { LogLevel } from './observer/lines.ts'
export {
  createLogObserver,
  type LogFormat,
  type LogOptions,
  type LogStream,
  logTrouble,
  observeAll,
} from './observer/log.ts'
export { combineObservers, type Observer } from './observer.ts'
export type { Offering, Plan } from './protocol/offering.ts'
export type { Registry } from './registry.ts'
export type { BundleOptions, RegistryEntry } from './running/bundles/from-options.ts'
export type { Runtime } from './sandbox.ts'
export { Sensitive, sensitive } from './sensitive/sensitive.ts'
export { type Settings, SettingsError } from './settings/settings.ts'
export type { Duration } from './shape/duration.ts'
export type { Store } from './store.ts'
