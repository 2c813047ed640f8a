import type { Query } from './query.ts'
import { malformed } from './request-fields.ts'

/** DELETE of an instance or a binding: both ids are mandatory query parameters. */
export interface DeletionRequest {
  readonly serviceId: string
  readonly planId: string
}

export function parseDeletion(query: Query): DeletionRequest {
  return { serviceId: required(query, 'service_id'), planId: required(query, 'plan_id') }
}

/** Fetching and polling: both are hints that may be absent, but not empty. */
export function checkHints(query: Query): void {
  if (query.size === 0) return
  for (const name of ['service_id', 'plan_id', 'operation'])
    if (query.get(name) === '') throw malformed(`the query parameter ${name} must not be empty`)
}

function required(query: Query, name: string): string {
  const value = query.get(name)
  if (value === undefined || value === '') throw malformed(`the query parameter ${name} is required`)
  return value
}
