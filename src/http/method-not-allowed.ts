import { BrokerError } from '../protocol/errors.ts'

/** 405 with what the path does take, in words and in the Allow header (RFC 9110, 15.5.6). */
export function methodNotAllowed(allow: readonly string[]): BrokerError {
  return new BrokerError('MethodNotAllowed', `This path takes ${allow.join(', ')}.`, { allow })
}
