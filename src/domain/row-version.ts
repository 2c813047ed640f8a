import type { JsonObject } from '../protocol/json.ts'
import type { Instance } from './instance.ts'
import type { Operation } from './operation.ts'
import { hashRequest } from './request-hash.ts'

/**
 * Names what operators see of a row: another one means that the row has changed since. What is sealed has no part in it, and
 * neither has what a worker writes while it goes on with the same attempt.
 */
export function versionOf(row: Instance | Operation): string {
  if ('action' in row) {
    const { id, state, attempt, notBefore, deadlineAt, hold, released, error, finishedAt } = row
    return hashOf({ id, state, attempt, notBefore, deadlineAt, hold, released, error, finishedAt })
  }
  const { id, phase, planId, revisionId, nextRevisionId, usable, lastOperationId, deletedAt } = row
  return hashOf({ id, phase, planId, revisionId, nextRevisionId, usable, lastOperationId, deletedAt })
}

function hashOf(seen: object): string {
  return hashRequest(JSON.parse(JSON.stringify(seen)) as JsonObject).slice(0, 22)
}
