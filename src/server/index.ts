/** `purser/server`: a broker as a server, from code. `purser serve` is made of the same parts. */
export {
  type BasicAuthenticator,
  type BasicUser,
  createBasicAuthenticator,
  type PasswordRule,
} from '../authenticator/basic.ts'
export { createOpenAuthenticator } from '../authenticator/open.ts'
export { hashPassword, type PasswordHash, verifyPassword } from '../authenticator/password.ts'
export {
  type Authenticator,
  combineAuthenticators,
  type Principal,
  type Role,
} from '../authenticator.ts'
export { type Clock, systemClock } from '../clock.ts'
export type { HttpApp, HttpRequest, HttpResponse } from '../http/message.ts'
export { type ListenOptions, listen, type NodeLimits, type RunningServer, type TlsFiles } from '../http/node.ts'
export { createLogObserver } from '../observer/log.ts'
export type { Observer } from '../observer.ts'
